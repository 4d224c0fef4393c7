// Threads as fibers: a stack each, and switches between them. What ends a launch early returns to its beginning.
#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>

#include "block.hpp"

Dimensions threadIdx, blockIdx, blockDim, gridDim;

namespace machine {

Fiber* running = nullptr;
std::jmp_buf failed;
std::string message;
extern void body();  // of a fiber

namespace {
constexpr size_t STACK = 256 << 10;
std::jmp_buf scheduler;
struct sigaction before_segv, before_bus, before_fpe, before_ill;
alignas(16) char signal_stack[64 << 10];
stack_t stack_before;

void on_fault(int signal, siginfo_t* info, void*) {
    if (signal == SIGSEGV || signal == SIGBUS) message = "access to " + place_of(reinterpret_cast<u64>(info->si_addr));
    else if (signal == SIGILL) message = "access at an odd address, or behind the end of a thread's own array";
    else message = "an integer divided by zero";
    if (running)
        message += ", by thread " + std::to_string(running->thread) + " of block " +
                   std::to_string(running->block->index);
    std::longjmp(failed, 1);
}
}  // namespace

char* new_stack() {
    void* const made = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) fail("no memory for stacks");
    mprotect(made, PAGE, PROT_NONE);
    return static_cast<char*>(made);
}
void free_stack(char* stack) { munmap(stack, STACK); }

void resume(Fiber& fiber) {
    running = &fiber;
    threadIdx.x = unsigned(fiber.thread);
    blockIdx.x = fiber.block->index;
    if (_setjmp(scheduler)) {
        running = nullptr;
        return;
    }
    if (running->started) _longjmp(running->place, 1);
    running->started = true;
    ucontext_t fresh;
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = running->stack + PAGE;
    fresh.uc_stack.ss_size = STACK - PAGE;
    fresh.uc_link = nullptr;
    makecontext(&fresh, body, 0);
    setcontext(&fresh);
}

void suspend() {
    if (!_setjmp(running->place)) _longjmp(scheduler, 1);
}

void fail(const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    message = text;
    if (running)
        message += ", thread " + std::to_string(running->thread) + " of block " + std::to_string(running->block->index);
    std::longjmp(failed, 1);
}

// A guard page that is touched ends the launch, not the process.
void catch_faults() {
    stack_t own{};
    own.ss_sp = signal_stack;
    own.ss_size = sizeof signal_stack;
    sigaltstack(&own, &stack_before);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
    sigaction(SIGFPE, &action, &before_fpe);
    sigaction(SIGILL, &action, &before_ill);
}
void leave_faults() {
    sigaction(SIGSEGV, &before_segv, nullptr);
    sigaction(SIGBUS, &before_bus, nullptr);
    sigaction(SIGFPE, &before_fpe, nullptr);
    sigaction(SIGILL, &before_ill, nullptr);
    sigaltstack(&stack_before, nullptr);
}

}  // namespace machine
