import { render } from 'preact'
import * as v from 'valibot'
import { AboutSchema } from '../console-call.ts'
import { App } from './app.tsx'
import { setAbout } from './gateway.ts'
import { followStory } from './story-feed.ts'

const root = document.querySelector('#console')
if (root) {
  const answer = await fetch('/console/about')
  setAbout(v.parse(AboutSchema, await answer.json()))
  followStory()
  render(<App />, root)
}
