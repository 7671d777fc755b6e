// aos_soa.cu - moves particles of eight numbers along x. aos: an array of structures; the x of neighbouring particles
// lie 32 bytes apart, and each sector brings bytes that nobody asked for. soa: an array for each number; every byte
// counts.
// bug-edge: the guard lets one particle too many through.
// usage: aos_soa [n] [aos|soa|bug-edge]... [--seed N] [--time REPEATS]
// bench: 2097152 16777216
#include "common.h"

struct Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};
const int Numbers = sizeof(Particle) / sizeof(float), X = 0, VX = 4;

__global__ void move_aos(Particle *p, float dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i].x += p[i].vx * dt;
}
template <int Off> __global__ void move_soa(float *x, const float *vx, float dt, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + Off)
        x[i] += vx[i] * dt;
}

int main(int argc, char **argv)
{
    Example e("aos_soa", {"aos", "soa", "bug-edge"}, argc, argv, 1 << 18, 1, 1 << 26);
    const size_t n = e.n, blocks = (n + 255) / 256;
    const auto in = random_floats(n * Numbers, e.seed); // as structures
    const float dt = 0.125f;
    for (size_t w = 0; w < e.ways.size(); w++) {
        if (!e.wants(e.ways[w]))
            continue;
        const bool aos = w == 0;
        std::vector<float> x(n), vx(n), out(n);
        for (size_t i = 0; i < n; i++) {
            x[i] = in[i * Numbers + X];
            vx[i] = in[i * Numbers + VX];
        }
        // in the array of structures the particles' numbers, in the other one array; both are moved until time is up
        float *const dp = to_device(aos ? in : x), *const dvx = to_device(vx);
        const auto launch = [&] {
            if (aos)
                move_aos<<<blocks, 256>>>((Particle *)dp, dt, e.n);
            else if (w == 1)
                move_soa<0><<<blocks, 256>>>(dp, dvx, dt, e.n);
            else
                move_soa<1><<<blocks, 256>>>(dp, dvx, dt, e.n);
        };
        launch();
        const auto moved = to_host(dp, aos ? n * Numbers : n);
        double worst = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double expect = x[i] + (double)vx[i] * dt;
            const double size = std::fabs(x[i]) + std::fabs(vx[i]);
            worst = worse(worst, std::fabs(moved[aos ? i * Numbers + X : i] - expect) / size);
        }
        const double ms = e.repeats > 0 ? e.run(launch) : 0.0;
        e.report(e.ways[w], worst, 1e-6, ms);
        CHECK(cudaFree(dp));
        CHECK(cudaFree(dvx));
    }
    return e.failed;
}
