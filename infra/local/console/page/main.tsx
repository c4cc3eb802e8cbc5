import { render } from 'preact'
import { App } from './app.tsx'
import { readAbout } from './session.ts'
import { followStory } from './story-feed.ts'

const root = document.querySelector('#console')
if (root) {
  await readAbout()
  followStory()
  render(<App />, root)
}
