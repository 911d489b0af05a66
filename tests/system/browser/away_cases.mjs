// "Leave and be called": a visitor closes its tab, is called meanwhile, and comes in.
import assert from 'node:assert/strict'

import { click } from './place_cases.mjs'

const isWaiting = "document.documentElement.dataset.state === 'waiting'"
const isInside = "document.title === 'inside'"
const isShown = selector => `document.querySelector('${selector}').checkVisibility()`

const reserving = { reserve: { anonymous: true }, webhook: { route: 'hooks', key_file: 'webhook.key' } }

export const rooms = { away: reserving, silent: reserving }
export const pages = { 'webhook.key': '0123456789abcdefghijklmnopqrstuv' }

// Its tab is closed when it is called; the address of the route lets it in.
async function comesIn ({ proxy }, room, holder, person, options) {
  await holder.leave()
  const called = async () => (await proxy.counts(room)).processing === 1
  for (let n = 0; n < 100 && !await called(); ++n) await new Promise(resolve => setTimeout(resolve, 100))
  assert.equal(await called(), true)
  const back = await person.tab(options)
  await back.open(proxy.page(room))
  await back.until(isInside)
}

export const cases = {
  'it leaves by the button, is called while its tab is closed, and comes in': async ({ browser, proxy }) => {
    const { holder } = await proxy.fill('away', 0)
    const person = await browser.person()
    const tab = await person.tab()
    await tab.open(proxy.page('away'))
    await tab.until(`${isWaiting} && ${isShown('form.away')}`)
    assert.equal(await tab.evaluate(isShown('p.away')), false)
    await click(tab, 'form.away button')
    await tab.until(isShown('p.away'))
    assert.equal(await tab.evaluate(isShown('form.away')), false)
    assert.equal(await tab.evaluate(isShown('.keep')), false) // nothing says that it has to stay
    assert.match(await tab.evaluate("document.querySelector('p.away').textContent"), /close this page.*15 min/)
    await tab.reload()
    await tab.until(isShown('p.away'))
    await tab.close()
    await comesIn({ proxy }, 'away', holder, person)
  },

  'without scripts it leaves by the form, and is called likewise': async ({ browser, proxy }) => {
    const { holder } = await proxy.fill('silent', 0)
    const person = await browser.person()
    const tab = await person.tab({ scripts: false })
    await tab.open(proxy.page('silent'))
    await tab.reload() // its second contact
    await click(tab, 'form.away button')
    await tab.until(isShown('p.away'))
    await tab.close()
    await comesIn({ proxy }, 'silent', holder, person, { scripts: false })
  }
}
