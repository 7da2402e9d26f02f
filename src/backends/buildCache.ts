// What a backend asks of the store of built code; src/runtime/cache.ts keeps it on disk.
import type { BackendName } from './backend.ts'

/** What a build says about its code, such as the scratch memory that the code needs: plain data that JSON keeps. */
export type BuildFacts =
  | number
  | string
  | boolean
  | null
  | readonly BuildFacts[]
  | { readonly [name: string]: BuildFacts }

export interface BuildRequest<Facts extends BuildFacts> {
  /** Name of the kernel, for people; not part of the key. */
  readonly kernel: string
  readonly backend: BackendName
  /** Everything that decides the result: two requests with equal inputs share one build. The emitting code itself is added. */
  readonly inputs: Readonly<Record<string, unknown>>
  /** Ending of the file's name. */
  readonly extension: 'so' | 'wasm'
  /** Makes the code. Called only when it is not there yet; what it throws is passed on and leaves nothing behind. */
  readonly make: () => { readonly code: Uint8Array; readonly facts: Facts }
}

export interface Build<Facts extends BuildFacts> {
  /** Where the code lies. */
  readonly path: string
  readonly code: Uint8Array
  readonly facts: Facts
}

export interface BuildCache {
  /** The build that a request names: the one in the store when its content is intact, else a new one. */
  obtain<Facts extends BuildFacts>(request: BuildRequest<Facts>): Build<Facts>
}
