// Plug-ins of the tests. Many small ones share a library, as compiling takes far longer than running: each is the body of an entry,
// and an environment variable selects the one that runs.
import { nativeFunction, openLibrary, readCString } from '../../../src/runtime/ffi.ts'
import { type CompileOptions, compileLibrary } from './compiler.ts'

const SELECTOR = 'HARRIER_TEST_PLUGIN'

/** A library of plug-ins. */
export interface PluginLibrary {
  /** Selects a plug-in and returns the path to load it from. */
  select(name: string): string
  /** The path of the library, whatever is selected. */
  readonly file: string
  /** The lines that its plug-ins have logged, in order; forgotten once read. */
  takeLog(): string[]
}

/**
 * Compiles plug-ins into one library.
 * @param entries for each name the C statements of an entry, which sees `host`, `registrar`, `info` and `error` and returns a status
 * @param shared what stands before them all, after fixture.h
 */
export function compilePlugins(
  entries: Readonly<Record<string, string>>,
  shared = '',
  options: CompileOptions = {},
): PluginLibrary {
  const names = Object.keys(entries)
  const parameters = 'const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error'
  const functions = names.map(
    (name, index) =>
      `/* ${name} */\nstatic hr_status entry_${index}(${parameters}) {\n(void)host; (void)registrar; (void)info; (void)error;\n${entries[name]}\n}\n`,
  )
  const dispatch = names.map(
    (name, index) =>
      `  if (strcmp(name, ${JSON.stringify(name)}) == 0) return entry_${index}(host, registrar, info, error);\n`,
  )
  const file = compileLibrary(
    `#include "fixture.h"\n${shared}\n${functions.join('\n')}\nENTRY {\n` +
      `  const char *name = getenv("${SELECTOR}");\n${dispatch.join('')}  return HR_NOT_FOUND;\n}\n`,
    options,
  )
  return {
    file,
    select(name) {
      process.env[SELECTOR] = name
      return file
    },
    takeLog: () => takeLog(file),
  }
}

/** The lines that a plug-in made with fixture.h has logged, in order; forgotten once read. */
export function takeLog(file: string): string[] {
  const library = openLibrary(file)
  const text = readCString(nativeFunction(library.symbol('fixture_log')!, 'address', [])())
  nativeFunction(library.symbol('fixture_clear')!, 'void', [])()
  return text === '' ? [] : text.trimEnd().split('\n')
}
