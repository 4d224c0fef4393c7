// Barriers, in shared memory and numbered, and fences.
#pragma once

namespace ptx {

template <typename T>
inline void mbarrier_init_shared_cta(u32 bar, u32 count) {
    machine::barrier_init(bar, count);
}
inline void fence_mbarrier_init_release_cluster() {}
template <typename T>
inline void mbarrier_arrive_expect_tx_shared_cta(None, u32 bar, u32 bytes) {
    machine::barrier_arrive(bar, 1, bytes);
}
template <typename T>
inline void mbarrier_arrive_shared_cta(None, u32 bar) {
    machine::barrier_arrive(bar, 1, 0);
}
template <typename T>
inline void mbarrier_arrive_shared_cta(None, u32 bar, u32 count) {
    machine::barrier_arrive(bar, count, 0);
}
template <typename T>
inline void mbarrier_expect_tx_relaxed_cta_shared_cta(u32 bar, u32 bytes) {
    machine::barrier_arrive(bar, 0, bytes);
}
template <typename T>
inline void mbarrier_try_wait_parity_shared_cta(bool& done, u32 bar, u32 parity) {
    machine::barrier_wait(bar, parity);
    done = true;
}

// Clusters.
template <typename T>
inline void mapa_shared_cluster(u32& there, u32 address, u32 rank) {
    there = machine::address_in(address, rank);
}
template <typename T>
inline void mbarrier_arrive_shared_cluster(None, u32 bar) {
    machine::arrive_there(bar);
}
inline void barrier_cluster_arrive_release() { machine::cluster_arrive(); }
inline void barrier_cluster_wait_acquire() { machine::cluster_wait(); }

inline void bar_sync(int barrier, int threads) { machine::meet(barrier, threads, true); }
inline void bar_sync(int barrier) { machine::meet(barrier, 0, true); }
inline void bar_arrive(int barrier, int threads) { machine::meet(barrier, threads, false); }
inline void fence_proxy_async_shared_cta() { machine::publish(); }
inline void fence_proxy_async() { machine::publish(); }
inline void fence_acq_rel_gpu() { machine::step(); }

inline void griddepcontrol_wait() { machine::wait_for_launch_before(); }
inline void griddepcontrol_launch_dependents() {}

}  // namespace ptx
