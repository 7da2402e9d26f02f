// Builds with `check` report the first access outside a table or accumulator: of the lowest sample, and there the first in program
// order. Such builds run on one thread.
import { anyLane, both, isUniform, lanesOf, partsOf, scalarOf, type Context } from './context.ts'
import { addressOfPlane, firstOf } from './memory.ts'

/** @param report address of the report; see CHECK_REPORT_BYTES */
export const createCheck =
  (report: string): NonNullable<Context['check']> =>
  (context, plane, index, mask) => {
    const { code, width } = context
    const { indexLimit } = addressOfPlane(context, plane)
    const outsideOf = (lanes: string, value: string, limit: string) =>
      code.value(`icmp uge ${lanes} ${value}, ${limit}`)
    if (width === 1) {
      const isOutside = outsideOf('i32', scalarOf(context, index), indexLimit)
      return reportIf(context, report, plane, isOutside, context.group.first, () => scalarOf(context, index))
    }
    const limit = code.splat('i32', indexLimit, width)
    const indices = isUniform(context, index)
      ? partsOf(context, index).map(() => code.splat('i32', scalarOf(context, index), width))
      : partsOf(context, index)
    const outside = both(
      context,
      mask,
      indices.map((lanes) => outsideOf(lanesOf(context, 'i32'), lanes, limit)),
    )
    outside.forEach((is, part) => {
      const isAny = anyLane(context, [is])
      const lane = (): string => {
        const bits = code.value(`bitcast ${lanesOf(context, 'bool')} ${is} to i${width}`)
        const wide = width === 64 ? bits : code.value(`zext i${width} ${bits} to i64`)
        return code.call('i64', 'llvm.cttz.i64', [`i64 ${wide}`, 'i1 false'])
      }
      const found = lane()
      const bounded = code.value(`and i64 ${found}, ${width - 1}`)
      const first = context.group.numbers
        ? code.value(`extractelement ${lanesOf(context, 'i64')} ${context.group.numbers[part]}, i64 ${bounded}`)
        : code.value(`add i64 ${firstOf(context, context.group, part)}, ${bounded}`)
      reportIf(context, report, plane, isAny, first, () =>
        code.value(`extractelement ${lanesOf(context, 'i32')} ${indices[part]}, i64 ${bounded}`),
      )
    })
  }

function reportIf(
  { code }: Context,
  report: string,
  plane: number,
  isOutside: string,
  sample: string,
  index: () => string,
): void {
  const write = code.label('outside')
  const after = code.label('checked')
  const known = code.value(`load i64, ptr ${report}, align 8`)
  // −1, no report yet, is the largest unsigned number.
  const isEarlier = code.value(`icmp ult i64 ${sample}, ${known}`)
  code.branch(code.value(`and i1 ${isOutside}, ${isEarlier}`), write, after)
  code.begin(write)
  code.line(`store i64 ${sample}, ptr ${report}, align 8`)
  code.line(`store i32 ${plane}, ptr ${code.value(`getelementptr i8, ptr ${report}, i64 8`)}, align 4`)
  code.line(`store i32 ${index()}, ptr ${code.value(`getelementptr i8, ptr ${report}, i64 12`)}, align 4`)
  code.jump(after)
  code.begin(after)
}

/** No access outside so far. */
export const printEmptyReport = ({ code }: Pick<Context, 'code'>, report: string): void =>
  code.line(`store i64 -1, ptr ${report}, align 8`)
