// The waiting page in a real browser, before the built proxy.
//
//   node waiting_page.mjs PROGRAMS
//
// PROGRAMS is the folder of spillway, spillway-demo-backend and spillway-demo-crowd. With
// SPILLWAY_SCREENSHOTS=FOLDER in its environment it keeps pictures there.
import { resolve } from 'node:path'
import test, { after, before } from 'node:test'

import * as access from './access_cases.mjs'
import * as away from './away_cases.mjs'
import * as challenge from './challenge_cases.mjs'
import * as crowd from './crowd_case.mjs'
import { Browser } from './devtools.mjs'
import * as end from './end_cases.mjs'
import * as own from './own_page_cases.mjs'
import * as place from './place_cases.mjs'
import { Proxy, Site } from './stage.mjs'

const programs = resolve(process.argv[2])
const stage = { programs }

before(async () => {
  stage.site = await Site.start()
  const rooms = { ...place.rooms, ...end.rooms, ...access.rooms, ...own.rooms, ...away.rooms, ...challenge.rooms }
  const pages = { ...own.pages, ...away.pages }
  stage.proxy = await Proxy.start(resolve(programs, 'spillway'), stage.site.port, rooms, pages)
  stage.browser = await Browser.start()
})

after(async () => {
  await stage.browser?.stop()
  await stage.proxy?.stop()
  stage.site?.stop()
})

// Each case has rooms and a window of its own, and most of them wait most of the time; but the crowd
// of the demo and proofs of work take the processor from others.
const parts = {
  'a sale': crowd.cases,
  'the waiting page': { ...place.cases, ...end.cases, ...access.cases, ...own.cases, ...away.cases },
  'work for a place': challenge.cases
}
for (const [part, cases] of Object.entries(parts)) {
  test(part, { concurrency: true }, async t => {
    await Promise.all(Object.entries(cases).map(([name, play]) => t.test(name, each => play(stage, each))))
  })
}
