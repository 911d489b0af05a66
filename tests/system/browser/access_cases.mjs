// The waiting page for everybody: what a screen reader is told and when, narrow screens, other
// directions, less motion, little to download, and nothing that its policy forbids.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const number = "document.getElementById('number').textContent"
const state = 'document.documentElement.dataset.state'
const screenshots = process.env.SPILLWAY_SCREENSHOTS

export const rooms = {
  spoken: {},
  paused: {},
  timed: { claim_ms: 20_000, claim_extensions: 2 },
  motion: {},
  light: { message: 'Doors close at 20:00.' },
  narrow: { message: 'Doors close at 20:00.' }
}

async function keep (tab, name) {
  if (!screenshots) return
  mkdirSync(screenshots, { recursive: true })
  writeFileSync(join(screenshots, `${name}.png`), await tab.screenshot())
}

// Keeps what the live regions say, and lets the page's clock be put forward.
const listening = `
  window.ahead = 0
  const now = Date.now.bind(Date)
  Date.now = () => now() + window.ahead
  window.said = {polite: [], urgent: []}
  document.addEventListener('DOMContentLoaded', () => {
    for (const id of ['polite', 'urgent']) {
      new MutationObserver(() => said[id].push(document.getElementById(id).textContent))
        .observe(document.getElementById(id), {childList: true, characterData: true, subtree: true})
    }
  })`

export const cases = {
  'it is announced once a minute at most, and at once only that it is called (WCAG 4.1.3)': async ({ browser, proxy }) => {
    const { holder, line } = await proxy.fill('spoken', 5)
    const person = await browser.person()
    const tab = await person.tab({ prelude: listening })
    await tab.open(proxy.page('spoken'))
    const before = await tab.accessible()
    assert.equal(before.find(node => node.role === 'status')?.live, 'polite')
    assert.equal(before.find(node => node.role === 'alert')?.live, 'assertive')
    await tab.until(`${number} === '6'`)
    for (const [n, companion] of line.slice(0, 3).entries()) {
      await companion.leave()
      await tab.until(`${number} === '${5 - n}'`)
    }
    assert.equal((await tab.evaluate('said.polite')).length, 1) // of four places, one was told
    await tab.evaluate('window.ahead = 60000') // a minute later
    await line[3].leave()
    await tab.until(`${number} === '2'`)
    const polite = await tab.evaluate('said.polite')
    assert.equal(polite.length, 2)
    assert.match(polite[1], /^Your place: 2\. Expected wait: /)
    assert.deepEqual(await tab.evaluate('said.urgent'), [])

    const waiting = await tab.accessible()
    assert.ok(waiting.some(node => node.role === 'heading' && node.name === 'You are in line'))
    assert.ok(waiting.some(node => /^progress/i.test(node.role) && node.name !== ''))
    const buttons = waiting.filter(node => node.role === 'button')
    assert.ok(buttons.length >= 2)
    for (const button of buttons) assert.notEqual(button.name, '')

    const front = await person.tab() // so that it is not used up at once
    await line[4].leave()
    await holder.leave()
    await tab.until(`${state} === 'processing'`)
    assert.deepEqual(await tab.evaluate('said.urgent'), ['It is your turn'])
    assert.equal((await tab.evaluate('said.polite')).length, 2)
    await front.close()
  },

  'updates can be paused, and the place is kept (WCAG 2.2.2)': async ({ browser, proxy }) => {
    const { line } = await proxy.fill('paused', 2)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('paused'))
    await tab.until(`${number} === '3'`)
    const hold = "document.getElementById('hold').click()"
    await tab.evaluate(hold)
    const told = tab.next('Network.eventSourceMessageReceived', ({ data }) => JSON.parse(data).position === 2)
    await line[0].leave()
    await told
    assert.equal(await tab.evaluate(number), '3')
    await tab.evaluate(hold)
    await tab.until(`${number} === '2'`)
  },

  'who is called has time: it is not taken along while it has paused the page, and gets more (WCAG 2.2.1)': async ({ browser, proxy, site }) => {
    const { holder } = await proxy.fill('timed', 0)
    const tab = await (await browser.person()).tab({ prelude: listening })
    await tab.open(proxy.page('timed'))
    await tab.until(`${state} === 'waiting'`)
    const sentence = "document.getElementById('sentence').textContent"
    await tab.evaluate("document.getElementById('hold').click()")
    assert.match(await tab.evaluate(sentence), /^Updates are paused\. When it is your turn this page says so/)
    await holder.leave()
    await tab.until(`${state} === 'processing' && said.urgent.join() === 'It is your turn'`)
    assert.equal(await site.isVisited('/timed', 2000), false)

    const ticket = "fetch('/_spillway/rooms/timed/ticket').then(answer => answer.json())"
    const more = "document.querySelector('#more button')"
    const isShown = `${more}.checkVisibility()`
    const buttons = (await tab.accessible()).filter(node => node.role === 'button').map(node => node.name)
    assert.ok(buttons.includes('I need more time') && buttons.includes('Enter now'), buttons.join())
    for (const left of [1, 0]) {
      const asked = Date.now()
      const given = tab.next('Network.responseReceived', ({ response }) => response.url.endsWith('/extend'))
      await tab.evaluate(`${more}.click()`)
      assert.equal((await given).response.status, 200)
      const { extensions_left, claim_remaining_ms } = await tab.evaluate(ticket)
      assert.equal(extensions_left, left)
      const since = Date.now() - asked // the time left begins anew, at most that long ago
      assert.ok(claim_remaining_ms >= 20_000 - since && claim_remaining_ms <= 20_000)
      await tab.until(`${isShown} === ${left > 0} && /^Time left to come in: 0:(20|19)$/.test(said.polite.at(-1))`)
    }
    await tab.evaluate("document.getElementById('enter').click()")
    await tab.until("document.title === 'inside'")
  },

  'nothing moves where less motion is wanted': async ({ browser, proxy }) => {
    await proxy.fill('motion', 1)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('motion'))
    await tab.until(`${number} === '2'`)
    const rules = `[...document.styleSheets[0].cssRules].filter(rule => /transition|animation/.test(rule.cssText) &&
      (!rule.media || matchMedia(rule.media.mediaText).matches)).length`
    for (const [value, moving] of [['no-preference', 1], ['reduce', 0]]) {
      await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value }] })
      assert.equal(await tab.evaluate(rules), moving, value)
    }
  },

  'it is one request, small, and breaks no rule of its policy': async ({ browser, proxy }) => {
    await proxy.fill('light', 1)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('light'))
    const isOwn = ({ url }) => !url.includes('/_spillway/')
    assert.equal(tab.requests.filter(isOwn).length, 1)
    const { status, headers } = tab.responses.find(isOwn)
    assert.equal(status, 503)
    assert.match(headers['Content-Security-Policy'], /^default-src 'none'; /)
    const html = await (await fetch(proxy.page('light'), { headers: { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' } })).text()
    assert.ok(gzipSync(html).length <= 14 * 1024, `${gzipSync(html).length} bytes`)
    await tab.until(`${number} === '2'`)
    await keep(tab, 'light')
    await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] })
    await keep(tab, 'dark')
    const violations = () => tab.complaints.filter(text => !/status of 503/.test(text))
    assert.deepEqual(violations(), [])
    // What breaks it is seen.
    const seen = tab.next('Log.entryAdded')
    await tab.evaluate("document.body.append(Object.assign(new Image(), {src: '/picture.png'})), 1")
    await seen
    assert.match(violations().join(), /Content Security Policy/)
  },

  'it fits 320 px in each language and state, and is written from the right in Arabic': async ({ browser, proxy }) => {
    await proxy.fill('narrow', 1)
    for (const language of ['en', 'de', 'es', 'fr', 'ar']) {
      const tab = await (await browser.person()).tab({ language })
      await tab.send('Emulation.setDeviceMetricsOverride', { width: 320, height: 640, deviceScaleFactor: 2, mobile: true })
      await tab.open(proxy.page('narrow'))
      await tab.until(`${state} === 'waiting'`)
      const direction = language === 'ar' ? 'rtl' : 'ltr'
      assert.equal(await tab.evaluate('document.documentElement.lang'), language)
      assert.equal(await tab.evaluate('getComputedStyle(document.body).direction'), direction)
      await keep(tab, `narrow-${language}`)
      const width = 'document.scrollingElement.scrollWidth'
      for (const each of ['arrived', 'offered', 'waiting', 'processing', 'fulfilled', 'full', 'closed', 'expired', 'cancelled']) {
        await tab.evaluate(`document.getElementById('spillway-place').dataset.state = '${each}'`)
        assert.ok(await tab.evaluate(width) <= 320, `${language} ${each}: ${await tab.evaluate(width)} px`)
      }
      // A number that is too long is found.
      await tab.evaluate("document.body.append(Object.assign(document.createElement('pre'), {textContent: 'x'.repeat(80)})), 1")
      assert.ok(await tab.evaluate(width) > 320)
      await tab.close()
    }
  }
}
