/**
 * Goal: tests of two releases run the code that was released, or say that they did not run.
 * Method: repositories of one or two commits, with and without tags.
 */
import { describe, expect, it } from 'vitest'
import { tempDirectory } from '../../support/temp-directory.ts'
import { findRelease, git } from './find-release.ts'

const ME = [
  '-c',
  'user.name=a',
  '-c',
  'user.email=a@example.com',
  '-c',
  'commit.gpgsign=false',
  '-c',
  'tag.gpgsign=false',
]

const repositoryOfTwo = () => {
  const directory = tempDirectory()
  const commit = () => {
    git(directory, ...ME, 'commit', '-q', '--allow-empty', '-m', 'one')
    return git(directory, 'rev-parse', 'HEAD').toString().trim()
  }
  git(directory, 'init', '-q')
  return { directory, released: commit(), later: commit() }
}

describe('findRelease', () => {
  it.each([
    ['tag', 'v1.0.0'],
    ['tag', '-m', 'a release', 'v1.0.0'],
  ])('finds a release by its tag: %s %s', (...tag) => {
    const { directory, released } = repositoryOfTwo()
    git(directory, ...ME, ...tag, released)

    expect(findRelease({ tag: 'v1.0.0', commit: released }, directory)).toBe(released)
  })

  it('finds a release by its commit in a clone without tags', () => {
    const { directory, released } = repositoryOfTwo()

    expect(findRelease({ tag: 'v1.0.0', commit: released }, directory)).toBe(released)
  })

  it('finds nothing where there is neither tag nor commit', () => {
    const { directory } = repositoryOfTwo()

    expect(findRelease({ tag: 'v1.0.0', commit: '0'.repeat(40) }, directory)).toBeUndefined()
  })

  it('refuses a tag that points elsewhere, and says what to do', () => {
    const { directory, released, later } = repositoryOfTwo()
    git(directory, 'tag', 'v1.0.0', later)

    expect(() => findRelease({ tag: 'v1.0.0', commit: released }, directory)).toThrow(
      `the tag v1.0.0 points to ${later}, and that release is ${released}: fetch the tag again`,
    )
  })
})
