/**
 * Goal: functions of the release before work on rows of this one and the reverse, wherever a canary or a rollback can
 * meet (docs/decisions.md, A stage on AWS).
 * Method: the former release's own code, taken out of git, and this one share one table and one set of queues. Every flow
 * is prepared by one release and run by the other; and it is cut off behind every await of one release, and the other
 * goes on with whatever that left: a create under its lease, a claimed attempt, a half-summed window, due work handed
 * out. Then the world rests under the second release, and everything is checked and audited, by both.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { problemsAtRest } from '../../support/invariants.ts'
import { alone, announced, paid, pass, untold } from '../crashes/flow-steps.ts'
import { FLOWS, type Flow } from '../crashes/flows.ts'
import { rest, startPlay } from '../histories/history.ts'
import type { Play } from '../histories/operations.ts'
import { seenBy } from '../histories/seen-by.ts'
import { drive } from '../world/drive.ts'
import { NO_FAULTS } from '../world/faults.ts'
import { type LoadedFunction, loadFunctions } from '../world/handlers.ts'
import { invoke, operate } from '../world/lambda.ts'
import type { CrashPoint, Process } from '../world/process.ts'
import { FORMER_RELEASE, saysMissing } from './find-release.ts'
import { hasFormerRelease, loadFormerRelease } from './former-release.ts'
import { NEW_FLOWS } from './new-flows.ts'

type Release = ReadonlyMap<string, LoadedFunction>

/** An even one: rows that the release before reads, too. */
const SEED = 4

let now: Release
let former: Release

const dueWork: Flow['run'] = ({ world }, _, options) => invoke(world, 'check-due-work', {}, options)
const due = (name: string, prepare: (play: Play) => Promise<unknown>, ms: number): Flow => ({
  name: `due work, ${name}`,
  prepare: async (play) => {
    await prepare(play)
    await pass(play, ms)
  },
  run: dueWork,
})
/** The look of each minute did everything itself once. */
const DUE_WORK = [
  due('a lost event', announced, 121_000),
  due('a lost callback', paid, 86_401_000),
  due('alerts of an endpoint', untold, 1_000),
]
/** It pays out what this release took back: settlements wait until it has gone (docs/decisions.md). And it has no route for a merchant's redelivery. */
const CUT_OFF = FLOWS.filter(({ name }) => !name.startsWith('sync, of ') && name !== 'redelivery, by its merchant')
const SHARED_FLOWS = [...FLOWS.filter(({ name }) => !NEW_FLOWS.includes(name)), ...DUE_WORK]

const handTo = ({ world }: Play, release: Release) => {
  world.functions = release
  world.idle.clear()
}

/** By then whatever the release before can bring to its end is there. */
const FORMER_REST_MS = 3 * 86_400_000

/** Rests under a release, and is audited by it; then for eight days under this one, which checks it all. */
const restUnder = async (play: Play, release: Release): Promise<readonly string[]> => {
  const { world, tenants } = play
  handTo(play, release)
  world.faults = NO_FAULTS
  if (release === now) return rest(play)
  await world.scheduler.runUntil(world.scheduler.nowMs() + FORMER_REST_MS)
  const problems = [...problemsAtRest(world.table.items(), seenBy(play))]
  for (const { clientId } of tenants) {
    const audit = await drive(world, operate(world, 'audit-ledger', { client_id: clientId }))
    if (audit?.body['balanced'] !== true) problems.push(`the release before says ${JSON.stringify(audit?.body)}`)
  }
  handTo(play, now)
  return [...problems, ...(await rest(play))]
}

const prepared = async (flow: Flow, release: Release) => {
  // What the release before publishes is not written down here: that all of it was told is seen in the rows.
  const play = { ...(await startPlay({ seed: SEED, functions: release })), restProblems: [] }
  return { play, value: await flow.prepare(play) }
}

const handedOver = async (flow: Flow, from: Release, to: Release): Promise<readonly string[]> => {
  const { play, value } = await prepared(flow, from)
  handTo(play, to)
  await drive(play.world, flow.run(play, value, {}))
  return restUnder(play, from)
}

const cutOff = async (flow: Flow, from: Release, to: Release, crashAt: CrashPoint): Promise<readonly string[]> => {
  const { play, value } = await prepared(flow, from)
  await drive(play.world, flow.run(play, value, { crashAt }))
  handTo(play, to)
  alone(play)
  await flow.retry?.(play, value)
  return restUnder(play, to)
}

const awaitsOf = async (flow: Flow, release: Release): Promise<readonly string[]> => {
  const { play, value } = await prepared(flow, release)
  let process: Process | undefined
  await drive(
    play.world,
    flow.run(play, value, {
      onProcess: (started) => {
        process = started
      },
    }),
  )
  return process?.awaits ?? []
}

const cutOffEverywhere = async (flow: Flow, from: Release, to: Release): Promise<readonly string[]> => {
  const failures: string[] = []
  const awaits = await awaitsOf(flow, from)
  for (const [at, label] of awaits.entries()) {
    const problems = await cutOff(flow, from, to, { await: at + 1, side: 'after' })
    if (problems.length > 0) failures.push(`behind await ${at + 1} (${label}): ${problems.slice(0, 3).join('; ')}`)
  }
  return awaits.length === 0 ? ['nothing ran'] : failures
}

const known = hasFormerRelease()
if (!known) console.warn(saysMissing(FORMER_RELEASE))

describe.runIf(known)('the release before and this one on one table', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    now = await loadFunctions()
    former = await loadFormerRelease()
  })

  it.each(SHARED_FLOWS)('"$name", prepared by the release before, is run by this one', async (flow) => {
    expect(await handedOver(flow, former, now)).toStrictEqual([])
  })

  it.each(SHARED_FLOWS)('"$name", prepared by this one, is run by the release before', async (flow) => {
    expect(await handedOver(flow, now, former)).toStrictEqual([])
  })

  it.each(SHARED_FLOWS)('"$name", cut off in the release before, is gone on with by this one', async (flow) => {
    expect(await cutOffEverywhere(flow, former, now)).toStrictEqual([])
  })

  it.each(CUT_OFF)('"$name", cut off in this one, is gone on with by the release before', async (flow) => {
    expect(await cutOffEverywhere(flow, now, former)).toStrictEqual([])
  })
})
