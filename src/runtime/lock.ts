// Exclusive locks between processes and workers, on a file.
// Invariant: a lock belongs to an open file, so that the operating system frees it when its owner dies, however it dies: there are
// no stale locks, no process numbers to check, and containers that share a folder are covered too.
import { closeSync, fstatSync, openSync, rmSync, statSync } from 'node:fs'
import { errnoOf, lastErrno, nativeFunction, openProgram, type NativeFunction } from './ffi.ts'

/** LOCK_EX | LOCK_NB; Linux, the BSDs and macOS agree on the numbers. */
const EXCLUSIVE_WITHOUT_WAITING = 2 | 4

const POLL_MILLISECONDS = 3

let flock: NativeFunction<'i32', ['i32', 'i32']> | undefined

/** Takes the lock of an open file: true when taken, false when another has it, undefined when this file cannot be locked. */
function take(file: number): boolean | undefined {
  if (flock === undefined) {
    const address = openProgram().symbol('flock')
    if (address === undefined) return undefined
    flock = nativeFunction(address, 'i32', ['i32', 'i32'])
  }
  if (flock(file, EXCLUSIVE_WITHOUT_WAITING) === 0) return true
  const errno = lastErrno()
  return errno === errnoOf('EWOULDBLOCK') || errno === errnoOf('EAGAIN') || errno === errnoOf('EINTR')
    ? false
    : undefined
}

/** Whether a path still names the open file: an owner removes the file when it gives the lock back. */
function isCurrent(file: number, path: string): boolean {
  const named = statSync(path, { throwIfNoEntry: false })
  const open = fstatSync(file)
  return named !== undefined && named.ino === open.ino && named.dev === open.dev
}

function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/**
 * Runs `action` while no other process or worker runs one under the same path. Waits for the lock, but no longer than `patience`
 * milliseconds: then, and where the file system has no locks, the action runs without it.
 * Throws what opening the file throws, when the folder cannot be written, before it runs the action.
 */
export function underLock<Result>(path: string, patience: number, action: (isExclusive: boolean) => Result): Result {
  const deadline = Date.now() + patience
  for (;;) {
    const file = openSync(path, 'a', 0o600)
    try {
      const taken = take(file)
      if (taken === undefined || Date.now() > deadline) return action(false)
      if (taken && isCurrent(file, path)) {
        try {
          return action(true)
        } finally {
          rmSync(path, { force: true })
        }
      }
    } finally {
      closeSync(file)
    }
    sleep(POLL_MILLISECONDS)
  }
}
