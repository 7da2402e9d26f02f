// Keeps the calls of one native function apart, on every thread of this process, for kernels that ask for it. JavaScript threads
// share no memory that they could find by themselves, so the lock is the system's: flock(2) on an empty file named after the process
// and the function. Each opening of the file is an owner of its own, waiting happens in the system, and a lock ends with its owner,
// also when a worker is terminated in the middle of a call: Node closes the files of a worker that ends.
import { closeSync, constants, fstatSync, openSync, statSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, errnoOf, lastErrno, nativeFunction, openProgram } from '../../runtime/ffi.ts'
import type { CallLock } from '../registry.ts'

/** A lock, and what gives it up for good. */
export interface OwnedCallLock extends CallLock {
  close(): void
}

/** flock's operations: the same numbers on Linux, macOS and the BSDs. */
const LOCK_EX = 2
const LOCK_NB = 4
const LOCK_UN = 8

/**
 * Opens the lock of the function at an address. Throws an Error that says why when this machine has no such locks or the folder for
 * temporary files cannot be written.
 */
export function openCallLock(execute: Address): OwnedCallLock {
  const flock = openFlock()
  const path = join(tmpdir(), `harrier-kernel-${process.pid}-${execute.toString(16)}.lock`)
  let file = open(path)

  return {
    acquire() {
      flock(file, LOCK_EX)
      // Whoever closes its lock removes the file, so the one just locked may not be the one that the others open from now on.
      while (!isCurrent(file, path)) {
        closeSync(file)
        file = open(path)
        flock(file, LOCK_EX)
      }
    },
    release() {
      flock(file, LOCK_UN)
    },
    close() {
      // Only the holder removes the file; if another thread holds it now, that thread removes it later.
      if (flock(file, LOCK_EX | LOCK_NB) && isCurrent(file, path)) unlinkSync(path)
      closeSync(file)
    },
  }
}

type Flock = (file: number, operation: number) => boolean

/** flock(2): true when the lock was changed, false when LOCK_NB found it taken. */
function openFlock(): Flock {
  const symbol = openProgram().symbol('flock')
  if (symbol === undefined) throw new Error('this system has no flock(2)')
  const flock = nativeFunction(symbol, 'i32', ['i32', 'i32'])
  return (file, operation) => {
    for (;;) {
      if (flock(file, operation) === 0) return true
      const errno = lastErrno()
      if (errno === errnoOf('EWOULDBLOCK')) return false
      // A signal can interrupt the wait.
      if (errno !== errnoOf('EINTR')) throw new Error(`flock failed with errno ${errno}`)
    }
  }
}

function open(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
}

/** Whether the path still leads to the file that is open. */
function isCurrent(file: number, path: string): boolean {
  const opened = fstatSync(file)
  const named = statSync(path, { throwIfNoEntry: false })
  return named !== undefined && named.ino === opened.ino && named.dev === opened.dev
}
