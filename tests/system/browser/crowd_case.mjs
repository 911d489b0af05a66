// A person with a browser in the crowd of the demo.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { patience, within } from './devtools.mjs'

// What a program prints, until a line matches; null once it has ended.
async function said (lines, pattern) {
  for await (const line of lines) {
    const found = line.match(pattern)
    if (found) return found
  }
  return null
}

export const cases = {
  'it waits in the crowd of the demo, sees its place fall, and is let in': async ({ browser, programs }) => {
    const demo = spawn('bench/demo/waiting-room.sh', [programs, '--exit', '--visitors', '45', '--over-s', '4'],
      { cwd: new URL('../../..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(demo, 'exit')
    try {
      const lines = createInterface(demo.stdout)[Symbol.asyncIterator]()
      const each = { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) }
      const [, url] = await within(patience, 'the address', said(each, /(http:\S+\/sale)/))
      await within(patience, 'a line of ten', said(each, /\|\s+[1-9]\d\s+\d+\s+\d+$/))
      const tab = await (await browser.person()).tab()
      await tab.open(url)
      const first = await tab.until("Number(document.getElementById('number').textContent)")
      assert.ok(first > 5, `place ${first}`)
      const place = "Number(document.getElementById('number')?.textContent)"
      await tab.until(`${place} > 0 && ${place} <= ${Math.ceil(first * 0.7)}`)
      // On a busy machine it may be inside before the page has shown a lower place.
      await tab.until(`document.title === 'The sale' || (${place} > 0 && ${place} <= ${Math.ceil(first * 0.4)})`)
      await tab.until("document.title === 'The sale'")
      await tab.until("/^\\d+$/.test(document.getElementById('sold').textContent)")
      await tab.evaluate("document.getElementById('buy').click()")
      await tab.until("document.getElementById('said').textContent.startsWith('Yours is order')")
      await tab.evaluate("document.getElementById('leave').click()")
      await tab.until("document.getElementById('said').textContent.startsWith('You have left')")
      const kept = await within(patience, 'the end of the demo', said(each, /^(kept|NOT kept).*/))
      assert.equal(kept[0], 'kept: first come, first served')
      assert.deepEqual(await within(patience, 'the end of the demo', ended), [0, null])
    } finally {
      demo.kill('SIGTERM') // if it still runs
      await ended
    }
  }
}
