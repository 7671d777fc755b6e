# packages.sh - installs Debian packages that are missing, saying so; sourced by ./demo and ./check.

# wg_packages NAME...: make sure that all are installed. Returns 1, after a message, when they cannot be.
wg_packages() {
    local missing="" name sudo=""
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing="$missing $name"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "Not a Debian system; these packages (by their Debian names) are needed:$missing" >&2
        return 1
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Missing, and neither root nor sudo to install it:$missing" >&2
            echo "Run as root: apt-get install$missing" >&2
            return 1
        fi
        sudo=sudo
    fi
    echo "Installing from Debian:$missing"
    $sudo apt-get -q update >/dev/null || { echo "apt-get update failed" >&2; return 1; }
    # shellcheck disable=SC2086
    if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends $missing \
        >/tmp/warpgrind-apt.$$ 2>&1; then
        cat /tmp/warpgrind-apt.$$ >&2
        rm -f /tmp/warpgrind-apt.$$
        return 1
    fi
    rm -f /tmp/warpgrind-apt.$$
}

# What building and running needs; what the tests need besides.
WG_BUILD_PACKAGES="gcc libc6-dev clang-19 libstdc++-12-dev meson ninja-build pkg-config libjansson-dev uthash-dev libzstd-dev liblz4-dev libelf-dev"
WG_TEST_PACKAGES="libcmocka-dev python3 python3-jsonschema binutils scdoc libmpfr-dev g++ libclang-rt-19-dev"
