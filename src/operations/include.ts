// Where the C header of plug-ins is.
import { packagePath } from '../package.ts'

/** The absolute path of the folder to give to a C compiler's `-I`; plug-ins include <harrier/plugin.h> from it. */
export function getInclude(): string {
  return packagePath('include')
}
