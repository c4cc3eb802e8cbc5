import { count, type Tally } from '../world/tally.ts'
import type { World } from '../world/world.ts'

/** In so many seeds, from the first on, it must have happened: those of `npm test`, of `.ci/run`, of a long run. */
type Within = 15 | 85 | 300 | 1_000

type Meeting = { readonly within: Within; readonly what: string }

/** What one release begins and the other goes on with, and in the midst of what they take each other's place. */
const BY_EITHER = {
  'a create of the other is taken over': 'Its attempt was released or its lease ran out.',
  'a create of the other is committed': 'A capture or a callback of its attempt came to this one.',
  'a payment of the other succeeds': 'Shown by one, credited by the other.',
  'a payment of the other ends unpaid': 'Shown by one; failed, expired or cancelled by the other.',
  'an event of the other is fanned out': 'Fired by one, its deliveries made by the other.',
  'a round of the other is gone on with': 'Attempts of one round by both.',
  'a claim of the other is finished': 'Its worker died: its attempt is recorded as unknown.',
  'an abandonment of the other is told': 'Given up by one, the operators hear of it by the other.',
  'a fee of the other becomes final': 'Credited on an estimate by one, known to the other.',
  'a payment of the other is settled': 'It succeeded under one, and is in a settlement of the other.',
  'a settlement of the other is paid out': 'Recorded by one, marked as paid by the other.',
  'a settlement of the other fails': 'Recorded by one; the bank refused it under the other.',
  'a settlement of the other is re-credited': 'Recorded by one, its money put back by the other.',
} as const

export type Handover = keyof typeof BY_EITHER

const OTHERS = {
  'a function runs as both at once': 'Two runs of it, one of each release.',
  'a rollback meets a create under way': 'A payment is being created, under a lease.',
  'a rollback meets a claimed attempt': 'A worker of this release is at it.',
  'a rollback meets a half-summed window': 'Sums that only this release reads.',
  'a rollback leaves messages to nobody': 'In a queue that the release before does not read.',
  'a run ends behind its release': 'It was begun by a version that nothing leads to any more.',
  'a rollback is rolled forward': 'This release comes back.',
  'an update is taken back': 'It was under way.',
  'what the release before credited goes back': 'This release deducts it, or owes it.',
  'a merchant asks for what only this release has': 'It is answered as what there is not.',
} as const

export type OtherMeeting = keyof typeof OTHERS

const RELEASES = ['by this release', 'by the release before'] as const

type Name = `${Handover}, ${(typeof RELEASES)[number]}` | OtherMeeting

const handoverName = (handover: Handover, isFormer: boolean): Name => `${handover}, ${RELEASES[isFormer ? 1 : 0]}`

/** How soon, by how often it was met in sixty seeds; what is not named here is so rare that 300 must. */
const WITHIN: Readonly<Partial<Record<Name, Within>>> = {
  'what the release before credited goes back': 15,
  'a payment of the other is settled, by this release': 15,
  'a payment of the other ends unpaid, by this release': 15,
  'a payment of the other ends unpaid, by the release before': 15,
  'a payment of the other succeeds, by this release': 15,
  'a payment of the other succeeds, by the release before': 15,
  'a fee of the other becomes final, by this release': 15,
  'an event of the other is fanned out, by this release': 15,
  'an event of the other is fanned out, by the release before': 15,
  'a rollback is rolled forward': 15,
  'a run ends behind its release': 15,
  'an update is taken back': 15,
  'a function runs as both at once': 15,
  'a merchant asks for what only this release has': 15,
  'an abandonment of the other is told, by the release before': 1_000,
  'an abandonment of the other is told, by this release': 1_000,
  'a rollback meets a create under way': 85,
  'a rollback meets a claimed attempt': 85,
  'a rollback meets a half-summed window': 85,
  'a rollback leaves messages to nobody': 85,
  'a create of the other is committed, by this release': 85,
  'a create of the other is taken over, by this release': 85,
  'a create of the other is taken over, by the release before': 85,
  'a round of the other is gone on with, by this release': 85,
  'a round of the other is gone on with, by the release before': 85,
  'a fee of the other becomes final, by the release before': 85,
}

/** Never: the release before settles and re-credits nothing once this one has been out (world/restrictions.ts). */
const IMPOSSIBLE = [
  handoverName('a payment of the other is settled', true),
  handoverName('a settlement of the other is re-credited', true),
]

const handovers = Object.entries(BY_EITHER).flatMap(([name, what]) =>
  [false, true].map((isFormer) => [handoverName(name as Handover, isFormer), what] as const),
)
const others = Object.entries(OTHERS).map(([name, what]) => [name as OtherMeeting, what] as const)

export const MEETINGS: ReadonlyMap<string, Meeting> = new Map(
  [...handovers, ...others]
    .filter(([name]) => !IMPOSSIBLE.includes(name))
    .map(([name, what]) => [name, { within: WITHIN[name] ?? 300, what }]),
)

const tallyName = (name: string) => `two releases: ${name}`

/** One release has begun it, the other one goes on with it. */
export const handOver = ({ tally }: World, handover: Handover, isFormer: boolean): void =>
  count(tally, tallyName(handoverName(handover, isFormer)))

export const meetOther = ({ tally }: World, meeting: OtherMeeting): void => count(tally, tallyName(meeting))

/** In what two releases should have met in so many histories, from the first seed on, and never did. */
export const missingMeetings = (tally: Tally, histories: number): readonly string[] =>
  [...MEETINGS].filter(([name, { within }]) => within <= histories && !tally.has(tallyName(name))).map(([name]) => name)
