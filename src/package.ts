// Where this package lies and which version it is, from its own package.json: the same from the sources and from the built files.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** The absolute path of a file or folder of the package. */
export function packagePath(relative: string): string {
  return fileURLToPath(new URL(`../${relative}`, import.meta.url))
}

/** The package's own description. */
export const PACKAGE: { readonly name: string; readonly version: string } = createRequire(import.meta.url)(
  '../package.json',
)
