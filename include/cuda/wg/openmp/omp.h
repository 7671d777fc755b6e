/* omp.h - the calls of OpenMP for host code, where clang's own library is not installed: GCC's libgomp answers them.
 * Parallel regions run on one thread then; see check_openmp in src/cli/build.c. */
#ifndef WG_CUDA_OMP_H
#define WG_CUDA_OMP_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct { unsigned char opaque[4] __attribute__((aligned(4))); } omp_lock_t;
typedef struct { unsigned char opaque[16] __attribute__((aligned(8))); } omp_nest_lock_t;
typedef enum { omp_sched_static = 1, omp_sched_dynamic = 2, omp_sched_guided = 3, omp_sched_auto = 4 } omp_sched_t;
double omp_get_wtime(void);
double omp_get_wtick(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_get_thread_limit(void);
int omp_in_parallel(void);
int omp_get_dynamic(void);
int omp_get_nested(void);
int omp_get_level(void);
int omp_get_num_teams(void);
int omp_get_team_num(void);
int omp_get_num_devices(void);
int omp_get_default_device(void);
int omp_get_initial_device(void);
int omp_is_initial_device(void);
void omp_set_num_threads(int n);
void omp_set_dynamic(int on);
void omp_set_nested(int on);
void omp_set_schedule(omp_sched_t kind, int chunk);
void omp_init_lock(omp_lock_t *lock);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);
#ifdef __cplusplus
}
#endif
#endif
