// The C header, against the tables of docs/plugins.md and of the sources: sizes, offsets and constants are compiled as static
// assertions, by every compiler that is here, alone and with every warning on. And the page's own example, which must do what it says.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ContextBuilder, getInclude } from '../../../src/operations/index.ts'
import * as abi from '../../../src/operations/plugins/abi.ts'
import { CLANG, CXX, compileLibrary, compilePlugin } from '../support/compiler.ts'
import { takeLog } from '../support/plugins.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/plugins.md'), 'utf8')

/** The cells of the rows of each table, below a heading. */
function rowsBelow(heading: string): string[][] {
  const start = page.indexOf(heading)
  if (start < 0) throw new Error(`docs/plugins.md has no '${heading}'`)
  const lines = page.slice(start).split('\n').slice(1)
  const end = lines.findIndex((line) => line.startsWith('#'))
  return (end < 0 ? lines : lines.slice(0, end))
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
}

const documentedStructs = [...page.matchAll(/^### `(hr_\w+)` \((\d+)\)/gm)].map(([heading, name, size]) => ({
  name: name!,
  size: Number(size),
  fields: rowsBelow(heading).map(([, field, type, offset]) => ({ field: field!, type: type!, offset: Number(offset) })),
}))

const documentedConstants = [...rowsBelow('## Constants'), ...rowsBelow('## Status')].map(([, name, value]) => ({
  name: name!.replace('(i)', '(7)'),
  value: value!.replace('+ i', '+ 7'),
}))

describe('the page and the sources', () => {
  test('list the same structs, with the same fields, offsets and sizes', () => {
    const fromSources = Object.entries(abi.STRUCTS).map(([name, { size, members }]) => ({
      name,
      size,
      fields: members.map(({ name: field, offset }) => ({ field, offset })),
    }))
    const fromPage = documentedStructs.map(({ name, size, fields }) => ({
      name,
      size,
      fields: fields.map(({ field, offset }) => ({ field, offset })),
    }))
    expect(fromPage).toEqual(fromSources)
  })

  test('list the same numbers', () => {
    const upper = (word: string) => word.toUpperCase().replaceAll('-', '_').replace('READWRITE', 'READ_WRITE')
    const named = (prefix: string, words: Iterable<[string, number]>) =>
      [...words].map(([word, number]): [string, number] => [`HR_${prefix}${upper(word)}`, number])
    const swap = (words: ReadonlyMap<number, string>) =>
      [...words].map(([number, word]): [string, number] => [word, number])
    const fromSources = Object.fromEntries([
      ['HR_ABI_MAJOR', abi.ABI_MAJOR],
      ['HR_ABI_MINOR', abi.ABI_MINOR],
      ['HR_ABI_VERSION', (abi.ABI_MAJOR << 16) | abi.ABI_MINOR],
      ['HR_ROLE_INPUT(7)', abi.roleNumber('input7')],
      ['HR_ROLE_OUTPUT(7)', abi.roleNumber('output7')],
      ...named('KIND_', swap(abi.WORDS.kind)),
      ...named('ACCESS_', swap(abi.WORDS.access)),
      ...named('BACKEND_', swap(abi.WORDS.backend)),
      ...named('LOCATION_', swap(abi.WORDS.location)),
      ...named('LAYOUT_', swap(abi.WORDS.layout)),
      ...named('CONTIGUITY_', swap(abi.WORDS.contiguity)),
      ...named('DTYPE_', swap(abi.WORDS.dtype)),
      ...named(
        'CAPABILITY_',
        Object.entries(abi.CAPABILITY_BITS).map(([name, bit]): [string, number] => [name, 1 << bit]),
      ),
      ['HR_KERNEL_SERIALISE', abi.KERNEL_SERIALISE],
      ['HR_TENSOR_CONTIGUOUS', abi.TENSOR_CONTIGUOUS],
      ...named('', Object.entries(abi.STATUS)),
      ['HR_FIRST_PLUGIN_STATUS', abi.FIRST_PLUGIN_STATUS],
    ])
    const sum = (text: string) => text.split('+').reduce((total, part) => total + Number(part), 0)
    expect(Object.fromEntries(documentedConstants.map(({ name, value }) => [name, sum(value)]))).toEqual(fromSources)
  })
})

/** A source that compiles only if the header says what the page says. */
function assertions(): string {
  const lines = documentedStructs.flatMap(({ name, size, fields }) => [
    `HR_ASSERT(sizeof(${name}) == ${size}, "${name}");`,
    `HR_ASSERT(_Alignof(${name}) <= 8, "${name}");`,
    ...fields.map(({ field, offset }) => `HR_ASSERT(offsetof(${name}, ${field}) == ${offset}, "${name}.${field}");`),
    // The last field ends where the struct does: nothing is hidden behind it.
    ...fields
      .slice(-1)
      .map(
        ({ field, offset }) =>
          `HR_ASSERT(${offset} + sizeof(((${name} *)0)->${field}) == ${size}, "${name} has padding");`,
      ),
    // The type of each field is the one on the page.
    ...fields
      .filter(({ type }) => !type.startsWith('function') && !type.includes('(*)'))
      .map(
        ({ field, type }, index) =>
          `${type}${type.endsWith('*') ? '' : ' '}*${name}_${index}(${name} *s) { return &s->${field}; }`,
      ),
  ])
  const constants = documentedConstants.map(({ name, value }) => `HR_ASSERT(${name} == (${value}), "${name}");`)
  return [...lines, ...constants, ''].join('\n')
}

function compile(compiler: string, standard: string, source: string): string {
  const language = standard.startsWith('c++') ? 'c++' : 'c'
  const flags = [
    `-std=${standard}`,
    '-x',
    language,
    '-Wall',
    '-Wextra',
    '-Werror',
    '-pedantic',
    '-fsyntax-only',
    `-I${getInclude()}`,
    '-',
  ]
  const { stderr } = spawnSync(compiler, flags, { input: source, encoding: 'utf8' })
  return stderr
}

const compilers = [
  { compiler: CLANG, standard: 'c11' },
  { compiler: CXX, standard: 'c++17' },
  ...['gcc', 'g++']
    .filter((compiler) => spawnSync(compiler, ['--version']).status === 0)
    .map((compiler) => ({ compiler, standard: compiler === 'gcc' ? 'c11' : 'c++17' })),
].filter((entry): entry is { compiler: string; standard: string } => entry.compiler !== null)

describe.each(compilers)('$compiler as $standard', ({ compiler, standard }) => {
  test('compiles the header alone, without a word', () => {
    expect(compile(compiler, standard, '#include <harrier/plugin.h>\n')).toBe('')
    expect(compile(compiler, standard, '#include <harrier/plugin.h>\n#include <harrier/plugin.h>\n')).toBe('')
  })

  test('lays out what the page says', () => {
    const source = assertions().replaceAll('_Alignof', standard === 'c11' ? '_Alignof' : 'alignof')
    expect(compile(compiler, standard, `#include <harrier/plugin.h>\n${source}`)).toBe('')
  })
})

test('the assertions can fail', () => {
  const spoiled = `#include <harrier/plugin.h>\n${assertions().replace('offsetof(hr_tensor, data) == 48', 'offsetof(hr_tensor, data) == 56')}`
  expect(compile(CLANG!, 'c11', spoiled)).toContain('hr_tensor.data')
})

test('a compiler with other sizes is stopped by the header', () => {
  const { status, stderr } = spawnSync(
    CLANG!,
    ['-m32', '-ffreestanding', '-std=c11', '-fsyntax-only', `-I${getInclude()}`, '-x', 'c', '-'],
    {
      input: '#include <harrier/plugin.h>\n',
      encoding: 'utf8',
    },
  )
  expect(status).not.toBe(0)
  expect(stderr).toContain('harrier plug-ins are for 64-bit targets')
})

test('a plug-in exports the two named functions and nothing else, and needs nothing of harrier', () => {
  const library = compilePluginWithoutFixture()
  const symbols = (flag: string) =>
    spawnSync('nm', ['-D', flag, library], { encoding: 'utf8' })
      .stdout.split('\n')
      .map((line) => line.trim().split(' ').at(-1)!)
      .filter((name) => name !== '')
  expect(symbols('--defined-only').sort()).toEqual(['hr_plugin_abi_version', 'hr_plugin_entry_v1'])
  expect(symbols('--undefined-only').filter((name) => name.startsWith('hr_'))).toEqual([])
})

/** The example of the page with the optional version function beside it. */
function compilePluginWithoutFixture(): string {
  return compileLibrary(`${exampleOfPage()}\nuint32_t hr_plugin_abi_version(void) { return HR_ABI_VERSION; }\n`)
}

function exampleOfPage(): string {
  const [, example] = /```c\n([\s\S]*?)```/.exec(page)!
  return example!
}

test("the page's example is compiled as it stands, loads, and computes what it says", () => {
  for (const language of ['c', 'c++'] as const) {
    const context = new ContextBuilder().loadPlugin(compileLibrary(exampleOfPage(), { language })).build()
    const y = context.execute('half.of', { input0: new Float32Array([2, 4]), output0: new Float32Array(2) })
    expect(y).toEqual(new Float32Array([1, 2]))
    expect(context.describe('half.of').doc).toBe('y = x / 2')
    context.close()
  }
})

test('the helpers of the header do what the page says', () => {
  const library = compilePlugin(`

    ENTRY {
      char room[4];
      hr_error errors[] = {{sizeof(hr_error), 0, 4, 99, room}, {sizeof(hr_error), 0, 4, 99, NULL}, {sizeof(hr_error), 0, 0, 99, room}};
      log_line("%d %d %u %.4s", hr_fail(&errors[0], 7, "capacity"), errors[0].code, errors[0].length, room);
      log_line("%d %d %u", hr_fail(&errors[1], 8, "capacity"), errors[1].code, errors[1].length);
      log_line("%d %d %u", hr_fail(&errors[2], 9, "capacity"), errors[2].code, errors[2].length);
      log_line("%d", hr_fail(NULL, 10, "nobody"));
      log_line("%llu %llu", (unsigned long long)hr_text("").len, (unsigned long long)hr_text("four").len);
      log_line("%u %u", HR_DTYPE_BYTES(HR_DTYPE_COMPLEX128), HR_DTYPE_BYTES(HR_DTYPE(99, 24)));
      int64_t shape[3] = {2, 3, 5};
      hr_tensor tensor = {0};
      tensor.shape = shape;
      tensor.rank = 3;
      log_line("%lld", (long long)hr_element_count(&tensor));
      tensor.rank = 0;
      log_line("%lld", (long long)hr_element_count(&tensor));
      struct { hr_tensor tensor; char more[48]; } longer[3] = {0};
      hr_invocation call = {0};
      call.operands = &longer[0].tensor;
      longer[0].tensor.struct_size = sizeof longer[0];
      log_line("%d", hr_operand(&call, 2) == &longer[2].tensor);
      hr_invocation shorter = {0};
      shorter.struct_size = 40;
      log_line("%d %d", HR_HAS(&shorter, hr_invocation, error), HR_HAS(&shorter, hr_invocation, next));
      return register_double(host, registrar, info, error);
    }`)
  new ContextBuilder().loadPlugin(library)
  expect(takeLog(library)).toEqual(['7 7 4 capa', '8 8 0', '9 9 0', '10', '0 4', '16 3', '30', '1', '1', '1 0'])
})
