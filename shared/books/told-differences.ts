import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import { type Minor, minor, plus, ZERO } from '../money.ts'
import { finding, logSuspense, publishSuspenseAlert, recordSuspense } from '../suspense/record-suspense.ts'
import { type Suspense, SuspenseSchema } from '../suspense/suspense.ts'
import { amendStep, reopenStep, resolveStep } from '../suspense/suspense-store.ts'
import { suspenseKey } from '../table/keys.ts'
import { type FigureName, type Figures, figure } from './figures.ts'

/** What the comparison itself finds: each is one finding of a client, as long as it is there. */
export const SUBJECTS = [
  'credited_difference',
  'settled_difference',
  'provider_overdue',
] as const satisfies readonly FigureName[]
export type Subject = (typeof SUBJECTS)[number]

/** What the operators were told of a client's books, by subject. */
export type Told = ReadonlyMap<Subject, Suspense>

export const readTold = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Told> => {
  const items = await deps.table.getMany(SUBJECTS.map((subject) => suspenseKey(`${clientId}#${subject}`)))
  return new Map(
    SUBJECTS.flatMap((subject, at) => (items[at] ? [[subject, v.parse(SuspenseSchema, items[at])] as const] : [])),
  )
}

/** An operator has resolved it, knowing this amount: as long as it stays the same it is explained. */
const isAccepted = (item: Suspense | undefined, amountMinor: Minor): boolean =>
  item?.status === 'resolved' && item.resolution !== undefined && item.amountMinor === amountMinor

/** Moves what operators have accepted out of the differences. */
export const withAccepted = (figures: Figures, told: Told): Figures => {
  const accepted = SUBJECTS.filter((subject) => {
    const amountMinor = figure(figures, subject)
    return amountMinor !== 0 && isAccepted(told.get(subject), amountMinor)
  })
  const sum = accepted.reduce((total, subject) => plus(total, figure(figures, subject)), ZERO)
  return { ...figures, ...Object.fromEntries(accepted.map((subject) => [subject, ZERO])), accepted: sum }
}

type TellDeps = Pick<Deps, 'table' | 'alerts' | 'now' | 'log'>

/** Takes back what is no longer there. Its operators read why. */
const endFinding = async (deps: TellDeps, item: Suspense): Promise<void> => {
  const notes = `gone at ${deps.now()}, by itself`
  await deps.table.write(resolveStep({ ...item, status: 'resolved', resolution: undefined, notes }))
}

/**
 * Has one finding say what a client's books differ by now: told once, amended without a word while it is open, told again
 * when it is otherwise than it was resolved, and closed when it is gone. Refused by an operator who is at it at the same
 * moment, which tomorrow's comparison puts right.
 */
export const tellDifference = async (
  deps: TellDeps,
  clientId: ClientId,
  { subject, amountMinor, known }: { subject: Subject; amountMinor: Minor; known: Suspense | undefined },
): Promise<void> => {
  if (amountMinor === 0) {
    if (known?.status === 'open') await endFinding(deps, known)
    return
  }
  const own = finding({ subject: clientId, cause: subject, payment: undefined, now: deps.now() })
  const item: Suspense = { ...own, clientId, amountMinor }
  if (known === undefined) return recordSuspense(deps, item)
  if (known.status === 'open') {
    if (known.amountMinor !== amountMinor) await deps.table.write(amendStep(known, amountMinor))
    return
  }
  if (!(await deps.table.write(reopenStep(item))).applied) return
  logSuspense(deps, item)
  await publishSuspenseAlert(deps, item)
}

/** Of several, each for itself. */
export const sumOf = (amounts: readonly Minor[]): Minor =>
  minor(amounts.reduce((sum, amountMinor) => sum + Math.abs(amountMinor), 0))
