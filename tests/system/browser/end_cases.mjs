// Places that have ended: the visitor is told why, once, and how to get a new one.
import assert from 'node:assert/strict'

import { click } from './place_cases.mjs'

const number = "document.getElementById('number').textContent"
const state = 'document.documentElement.dataset.state'
const sentence = "document.getElementById('sentence').textContent"
const removed = 'The operator of this site has ended it. You can join the line again, at its end.'
const ticketOf = room => `fetch('/_spillway/rooms/${room}/ticket').then(answer => answer.json())`

export const rooms = { removed: {}, reloaded: {}, stripped: {} }

// A place behind one other, and the same again: `press` is to lead to it.
async function rejoin (tab, room, press) {
  const loaded = tab.next('Page.loadEventFired')
  await press()
  await loaded
  await tab.until(`${state} === 'waiting' && ${number} === '2'`)
  assert.equal(await tab.evaluate('location.pathname'), `/${room}`)
}

export const cases = {
  'whose place was ended by the operator is told so, and takes a new one by the button': async ({ browser, proxy }) => {
    await proxy.fill('removed', 1)
    const person = await browser.person()
    const tab = await person.tab()
    await tab.open(proxy.page('removed'))
    await tab.until(`${state} === 'waiting' && ${number} === '2'`)
    const id = await proxy.removeLast('removed')
    await tab.until(`${state} === 'expired'`)
    assert.equal(await tab.evaluate(sentence), removed)
    assert.equal(await tab.evaluate("document.getElementById('heading').textContent"), 'Your place has ended')
    await rejoin(tab, 'removed', () => tab.evaluate("document.getElementById('again').click()"))
    const place = await tab.evaluate(ticketOf('removed'))
    assert.notEqual(place.id, id)

    // A second tab that has still to be told does not cost the new place.
    const second = await person.tab()
    await second.open(proxy.page('removed'))
    await second.until(`${state} === 'waiting'`)
    await second.evaluate("document.getElementById('spillway-place').dataset.state = 'expired'")
    await rejoin(second, 'removed', () => second.evaluate("document.getElementById('again').click()"))
    assert.equal((await second.evaluate(ticketOf('removed'))).id, place.id)
  },

  'a page that is loaded after the end says why, once, and then gives a new place': async ({ browser, proxy }) => {
    await proxy.fill('reloaded', 1)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('reloaded'))
    await tab.until(`${state} === 'waiting' && ${number} === '2'`)
    await tab.open('about:blank')
    await proxy.removeLast('reloaded')
    await tab.open(proxy.page('reloaded'))
    assert.equal(await tab.evaluate(sentence), removed)
    assert.equal(await tab.evaluate(state), 'expired')
    await tab.reload()
    await tab.until(`${state} === 'waiting' && ${number} === '2'`)
  },

  'without scripts it is told as well, and takes a new place by the button': async ({ browser, proxy }) => {
    const { line } = await proxy.fill('stripped', 1)
    const tab = await (await browser.person()).tab({ scripts: false })
    await tab.open(proxy.page('stripped'))
    await tab.reload()
    assert.equal(await tab.evaluate(number), '2')
    await proxy.removeLast('stripped')
    await tab.reload()
    assert.equal(await tab.evaluate(sentence), removed)
    assert.equal(await tab.evaluate("document.querySelector('meta[http-equiv=refresh]')"), null)
    const loaded = tab.next('Page.loadEventFired')
    await click(tab, '.again button')
    await loaded
    assert.equal(await tab.evaluate('location.pathname'), '/stripped')
    assert.equal(await tab.evaluate(state), 'arrived')
    await line[0].leave()
    await tab.reload()
    assert.equal(await tab.evaluate(number), '1')
  }
}
