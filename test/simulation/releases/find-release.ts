import { execFileSync } from 'node:child_process'

/** A release as git knows it: its tag, and the commit that the tag must point to, for clones without tags. */
export type NamedRelease = { readonly tag: string; readonly commit: string }

/** The release before this one. */
export const FORMER_RELEASE: NamedRelease = {
  tag: 'v0.1.0',
  commit: 'ffc21285725cb3798a1c36309ceb64b13b7b4929',
}

export const git = (directory: string, ...args: readonly string[]): Buffer =>
  execFileSync('git', args, { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 * 1024 * 1024 })

const commitOf = (directory: string, name: string): string | undefined => {
  try {
    return git(directory, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`).toString().trim()
  } catch {
    return undefined
  }
}

/**
 * The commit of a release in this clone: by its tag, or by the commit where there are no tags, or undefined where the
 * history does not reach so far. A tag that was moved is an error: what it points to was never that release.
 */
export const findRelease = ({ tag, commit }: NamedRelease, directory: string): string | undefined => {
  const tagged = commitOf(directory, `refs/tags/${tag}`)
  if (tagged !== undefined && tagged !== commit)
    throw new Error(
      `the tag ${tag} points to ${tagged}, and that release is ${commit}: fetch the tag again (git fetch --tags --force), or mend FORMER_RELEASE in test/simulation/releases/find-release.ts if it is wrong`,
    )
  return tagged ?? commitOf(directory, commit)
}

/** What a check says that needs a release, in a clone that has neither its tag nor its commit. */
export const saysMissing = ({ tag, commit }: NamedRelease): string =>
  `The release before, ${tag} (${commit}), is not in this clone: nothing was tried between two releases. Fetch the history to do so (git fetch --tags --unshallow).`
