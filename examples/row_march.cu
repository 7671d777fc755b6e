// row_march.cu - row sums of a matrix by one thread a row. Stored by rows, neighbouring threads are a whole row apart and
// each load of a warp touches 32 sectors; stored by columns, the same loop touches 4.
// usage: row_march [rows] [columns] [bad|good]      both without the third argument
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t e = (call);                                                                                  \
        if (e != cudaSuccess) {                                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e));                 \
            return 2;                                                                                                  \
        }                                                                                                              \
    } while (0)

__global__ void row_march_bad(const float *m, float *sum, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float s = 0.0f;
    for (int c = 0; c < columns; c++)
        s += m[row * columns + c];
    sum[row] = s;
}
__global__ void row_march_good(const float *m, float *sum, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float s = 0.0f;
    for (int c = 0; c < columns; c++)
        s += m[c * rows + row];
    sum[row] = s;
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? std::atoi(argv[1]) : 2048, columns = argc > 2 ? std::atoi(argv[2]) : 256;
    const char *const only = argc > 3 ? argv[3] : nullptr;
    if (rows < 1 || columns < 1 || (long long)rows * columns > 1 << 28 ||
        (only && std::strcmp(only, "bad") != 0 && std::strcmp(only, "good") != 0)) {
        std::fprintf(stderr, "usage: row_march [rows] [columns] [bad|good]\n");
        return 2;
    }
    std::vector<float> m((size_t)rows * columns), sum(rows), expect(rows);
    float *dm, *dsum;
    CHECK(cudaMalloc(&dm, m.size() * sizeof(float)));
    CHECK(cudaMalloc(&dsum, rows * sizeof(float)));
    int failed = 0;
    for (int good = 0; good < 2; good++) {
        const char *const name = good ? "good" : "bad";
        if (only && std::strcmp(only, name) != 0)
            continue;
        for (int r = 0; r < rows; r++) {
            expect[r] = 0.0f;
            for (int c = 0; c < columns; c++) {
                const float v = (float)((r * 31 + c * 7) % 11);
                m[good ? (size_t)c * rows + r : (size_t)r * columns + c] = v;
                expect[r] += v;
            }
        }
        CHECK(cudaMemcpy(dm, m.data(), m.size() * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(dsum, 0xff, rows * sizeof(float)));
        if (good)
            row_march_good<<<(rows + 127) / 128, 128>>>(dm, dsum, rows, columns);
        else
            row_march_bad<<<(rows + 127) / 128, 128>>>(dm, dsum, rows, columns);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(sum.data(), dsum, rows * sizeof(float), cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int r = 0; r < rows; r++)
            wrong += sum[r] != expect[r]; // sums of small integers: exact
        std::printf("row_march %s %dx%d: %s\n", name, rows, columns, wrong ? "FAIL" : "PASS");
        failed |= wrong != 0;
    }
    CHECK(cudaFree(dm));
    CHECK(cudaFree(dsum));
    return failed;
}
