// The operator's template around the place, and places that are offered.
import assert from 'node:assert/strict'

import { click } from './place_cases.mjs'

const number = "document.getElementById('number').textContent"
const state = 'document.documentElement.dataset.state'

export const rooms = {
  acme: { page: 'acme.html', message: 'Doors <b>close</b> at 20:00.' },
  offered: { join: 'offer' },
  bare: { join: 'offer' },
  left: { join: 'offer' }
}

// Files beside the configuration.
export const pages = {
  'acme.html': `<!doctype html>
<html lang="{{lang}}" dir="{{dir}}">
<head>
{{head}}
<style>
header { color: rgb(1, 2, 3) }
p { margin: 7px }
</style>
<title>ACME: {{title}}</title>
</head>
<body>
<header><p id="heading">ours</p> <b id="live" data-live="position">{{position}}</b> {{message}}</header>
<main id="main">{{content}}</main>
</body>
</html>
`
}

const isNoStatus = text => !/status of 503/.test(text)

export const cases = {
  'the operator\'s page has its own style, and figures that stay up to date': async ({ browser, proxy }) => {
    const { line } = await proxy.fill('acme', 2)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('acme'))
    await tab.until(`${number} === '3'`)
    const live = "document.getElementById('live').textContent"
    await tab.until(`${live} === '3'`)
    assert.equal(await tab.evaluate('document.title'), 'ACME: 3 · waiting')
    const style = (selector, name) => tab.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`)
    assert.equal(await style('header', 'color'), 'rgb(1, 2, 3)')
    // The template has an element of the name main.
    assert.equal(await tab.evaluate("document.querySelector('#leave').checkVisibility()"), true)
    assert.equal(await style('header p', 'marginTop'), '7px') // not that of the place
    assert.match(await tab.evaluate("document.querySelector('header').textContent"), /Doors <b>close<\/b> at 20:00\./)
    await line[0].leave()
    await tab.until(`${number} === '2' && ${live} === '2'`)
    // What has the name of something in the place is left alone.
    assert.equal(await tab.evaluate("document.querySelector('header p').textContent"), 'ours')
    assert.equal(await tab.evaluate("document.querySelector('h1').textContent"), 'You are in line')
    assert.deepEqual(tab.complaints.filter(isNoStatus), [])
    // What its policy forbids does not act.
    const seen = tab.next('Log.entryAdded')
    await tab.evaluate("document.head.append(Object.assign(document.createElement('style'), {textContent: 'header { color: red }'})), 1")
    await seen
    assert.equal(await style('header', 'color'), 'rgb(1, 2, 3)')
  },

  'a place that is offered is taken by its button, and by nothing before': async ({ browser, proxy }) => {
    await proxy.fill('offered', 0)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('offered'))
    await tab.until(`${state} === 'offered'`)
    const asked = tab.next('Network.responseReceived', ({ response }) => response.url.endsWith('/ticket'))
    await tab.reload()
    await asked // it polls, too
    const ticket = "fetch('/_spillway/rooms/offered/ticket').then(answer => answer.json())"
    assert.equal((await tab.evaluate(ticket)).state, 'offered')
    assert.equal((await proxy.counts('offered')).waiting, 0)
    const isShown = selector => tab.evaluate(`document.querySelector('${selector}').checkVisibility()`)
    assert.equal(await isShown('.offer button'), true)
    assert.equal(await isShown('#leave'), false)
    const loaded = tab.next('Page.loadEventFired')
    await tab.evaluate("document.querySelector('.offer button').click(), 1")
    await loaded
    await tab.until(`${state} === 'waiting' && ${number} === '1'`)
    assert.equal(await tab.evaluate('location.pathname'), '/offered')
    assert.equal((await proxy.counts('offered')).waiting, 1)
  },

  'without scripts a place is taken by the button, too': async ({ browser, proxy }) => {
    await proxy.fill('bare', 0)
    const tab = await (await browser.person()).tab({ scripts: false })
    await tab.open(proxy.page('bare'))
    for (let n = 0; n < 3; ++n) await tab.reload()
    assert.equal(await tab.evaluate(state), 'offered')
    assert.equal((await proxy.counts('bare')).waiting, 0)
    const loaded = tab.next('Page.loadEventFired')
    await click(tab, '.offer button')
    await loaded
    assert.equal(await tab.evaluate('location.pathname'), '/bare')
    assert.equal(await tab.evaluate(number), '1')
    assert.equal((await proxy.counts('bare')).waiting, 1)
  },

  'a page that offers a place enters by itself when visitors no longer have to wait': async ({ browser, proxy, site }) => {
    const { holder } = await proxy.fill('left', 0)
    const tab = await (await browser.person()).tab()
    await tab.open(proxy.page('left'))
    await tab.until(`${state} === 'offered'`)
    await holder.leave()
    await tab.until("document.title === 'inside'")
    assert.equal(site.browserVisits('/left').length, 1)
  }
}
