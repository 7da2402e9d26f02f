// The one error class of the library. Every refusal carries a stable code, so that programs can act on it and people can look it up;
// the message says what was called, which named value, what was found, what was expected and what to do.

/** Every code that harrier raises, with the sentence that `docs/errors.md` prints beside it. */
export const ERROR_CODES = {
  E_COERCION: 'a symbolic value was used where JavaScript coerces it to a plain one',
  E_UNUSED_CONDITION: 'a condition was computed and never used, as happens after `if (x.gt(0))`',
  E_DEFINITION: 'a kernel definition breaks one of the rules of the language',
  E_RETURN: 'a kernel body returned something that is no traced value, or not what it declared',
  E_NAME: 'a parameter or output name is reserved, malformed or used twice',
  E_TYPE: 'an operation was given a value of a type or shape it does not take',
  E_CONTROL_FLOW: 'a loop, branch or dispatch breaks one of its rules',
  E_BINDING: 'the arrays or numbers of a call do not fit the kernel',
  E_OUT_OF_RANGE: 'a checked kernel read or wrote outside a table or accumulator',
  E_OPTION: 'an option has an unknown name or a value it does not take',
  E_DERIVATIVE: 'a derivative was asked for that does not exist',
  E_GRAPH: 'a graph breaks an invariant of the intermediate representation',
  E_PARSE: 'the text of a graph cannot be read',
  E_BACKEND_UNAVAILABLE: 'the backend asked for cannot run here',
  E_TOOLCHAIN: 'no usable clang was found',
  E_COMPILE: 'the compiler or linker refused the generated code',
  E_MEMORY: 'the linear memory of the embedded backend cannot hold what was asked for, or a plane in it was freed',
  E_CACHE: 'the build cache cannot be used',
  E_ABORTED: 'a call was cancelled through its AbortSignal',
  E_INTERNAL: 'a defect of harrier itself; please report it with the text of the message',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export class HarrierError extends Error {
  override readonly name = 'HarrierError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
