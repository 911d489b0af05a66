// A visitor's place: it is seen, kept, and used only by who looks at it.
import assert from 'node:assert/strict'

const number = "document.getElementById('number').textContent"
const isWaiting = "document.documentElement.dataset.state === 'waiting'"
const isCalled = "document.documentElement.dataset.state === 'processing'"
const isInside = "document.title === 'inside'"
const note = "document.getElementById('called-note').textContent"
const ticketOf = room => `fetch('/_spillway/rooms/${room}/ticket').then(answer => answer.json())`

// The tab is hidden in the moment between its call and its entry.
const hiding = `
  window.isSeen = true
  Object.defineProperty(document, 'visibilityState', {get: () => isSeen ? 'visible' : 'hidden'})
  const later = setTimeout
  window.setTimeout = (act, time) => later(() => { if (time === 400) isSeen = false; act() }, time)`

// Keeps what it notifies of.
const listening = `
  window.notes = []
  window.Notification = class extends Notification {
    constructor (title, options) {
      super(title, options)
      notes.push({title, ...options})
    }
  }`

export const rooms = {
  kept: {},
  hidden: {},
  brief: {},
  noted: {},
  unnoted: {},
  late: { claim_ms: 1000 },
  full: { max_tickets: 2 },
  plain: {}
}

export const cases = {
  'it sees its place, keeps it over a reload, and in a second tab it is the same': async ({ browser, proxy }) => {
    const { line } = await proxy.fill('kept', 3)
    const person = await browser.person()
    const tab = await person.tab()
    await tab.open(proxy.page('kept'))
    await tab.until(`${isWaiting} && ${number} === '4'`)
    assert.equal(await tab.evaluate("document.title"), '4 · waiting')
    const before = await tab.evaluate(ticketOf('kept'))

    await tab.reload()
    await tab.until(`${isWaiting} && ${number} === '4'`)
    const second = await person.tab()
    await second.open(proxy.page('kept'))
    await second.until(`${isWaiting} && ${number} === '4'`)
    for (const each of [tab, second]) {
      const { id, position } = await each.evaluate(ticketOf('kept'))
      assert.deepEqual({ id, position }, { id: before.id, position: 4 })
    }
    assert.equal((await proxy.counts('kept')).waiting, 4)

    // Those before it leave, one by one; the page shows it without a reload.
    for (const [n, companion] of line.entries()) {
      await companion.leave()
      await second.until(`${number} === '${3 - n}'`)
    }
    assert.ok(await second.evaluate("document.getElementById('progress').value") > 0.9)
    await second.close()
    await tab.bringToFront()
    await tab.until(`${number} === '1'`)
  },

  'it is called in a hidden tab, does not enter, and enters by itself when it is seen': async ({ browser, proxy, site }) => {
    const { holder } = await proxy.fill('hidden', 0)
    const person = await browser.person()
    const tab = await person.tab()
    await tab.open(proxy.page('hidden'))
    await tab.until(isWaiting)
    const other = await person.tab() // in front of it
    await tab.until('document.hidden')
    await holder.leave()
    await tab.until(isCalled)
    assert.equal(await tab.evaluate("document.title"), 'It is your turn')
    assert.equal(await site.isVisited('/hidden', 3000), false)
    assert.equal((await proxy.counts('hidden')).processing, 1)
    const visited = site.isVisited('/hidden', 5000)
    await other.close()
    await tab.bringToFront()
    assert.equal(await visited, true)
    await tab.until(isInside)
    assert.match(site.browserVisits('/hidden')[0].pass, /^room=hidden; id=[0-9a-f]{32}$/)
    assert.equal((await proxy.counts('hidden')).active, 1)
  },

  'it does not enter if its tab is hidden in the last moment, and enters when it is seen again': async ({ browser, proxy, site }) => {
    const { holder } = await proxy.fill('brief', 0)
    const person = await browser.person()
    const tab = await person.tab({ prelude: hiding })
    await tab.open(proxy.page('brief'))
    await tab.until(isWaiting)
    await holder.leave()
    await tab.until(`${isCalled} && !isSeen`)
    assert.equal(await site.isVisited('/brief', 3000), false)
    const visited = site.isVisited('/brief', 5000)
    await tab.evaluate("isSeen = true; document.dispatchEvent(new Event('visibilitychange'))")
    assert.equal(await visited, true)
    await tab.until(isInside)
  },

  'a notification is shown to who asked for it, in a tab that stays open in the background': async ({ browser, proxy }) => {
    const { holder } = await proxy.fill('noted', 0)
    const person = await browser.person()
    await person.decide(proxy.base, 'notifications', 'granted')
    const tab = await person.tab({ prelude: listening })
    await tab.open(proxy.page('noted'))
    await tab.until(isWaiting)
    assert.equal(await tab.evaluate("document.getElementById('call').textContent"), 'Notify me when it is my turn')
    await tab.evaluate("document.getElementById('call').click()")
    await tab.until(`${note} === 'You will get a notification when it is your turn. Keep this tab open in the background.'`)
    assert.equal(await tab.evaluate("document.getElementById('call').checkVisibility()"), false)
    const other = await person.tab() // in front of it
    await tab.until('document.hidden')
    await holder.leave()
    await tab.until(`${isCalled} && notes.length === 1`)
    const [{ title, body }] = await tab.evaluate('notes')
    assert.equal(title, 'It is your turn')
    assert.match(body, /^Come in before the time is up/)
    await other.close()
  },

  'where notifications are not allowed, who asks for one is told so': async ({ browser, proxy }) => {
    await proxy.fill('unnoted', 0)
    const person = await browser.person()
    await person.decide(proxy.base, 'notifications', 'denied')
    const tab = await person.tab()
    await tab.open(proxy.page('unnoted'))
    await tab.until(isWaiting)
    await tab.evaluate("document.getElementById('call').click()")
    await tab.until(`${note}.startsWith('Notifications are not allowed. The title of this tab changes')`)
  },

  'who does not come in time goes back to its own place, and is called again': async ({ browser, proxy }) => {
    const { holder } = await proxy.fill('late', 0)
    const person = await browser.person()
    const tab = await person.tab()
    await tab.open(proxy.page('late'))
    await tab.until(isWaiting)
    const other = await person.tab() // in front of it
    await holder.leave()
    const urgent = "document.getElementById('urgent').textContent"
    await tab.until(`${isCalled} && ${urgent} === 'It is your turn'`)
    await tab.until(`${isWaiting} && ${number} === '1' && ${urgent} === ''`)
    await tab.until(`${isCalled} && ${urgent} === 'It is your turn'`)
    await other.close()
    await tab.bringToFront()
    await tab.until(isInside)
  },

  'who is told that the line is full is let into it when there is a place' : async ({ browser, proxy }) => {
    const { line } = await proxy.fill('full', 2)
    const prelude = `addEventListener('DOMContentLoaded', () => new MutationObserver(
      () => tell(document.getElementById('heading').textContent)
    ).observe(document.getElementById('heading'), {childList: true, characterData: true, subtree: true}))`
    const tab = await (await browser.person()).tab({ prelude })
    const headings = [] // that the page gives itself
    await tab.send('Runtime.addBinding', { name: 'tell' })
    tab.browser.on(tab.sessionId, ({ method, params }) => {
      if (method === 'Runtime.bindingCalled') headings.push(params.payload)
    })
    await tab.open(proxy.page('full'))
    await tab.until("document.documentElement.dataset.state === 'full'")
    await tab.next('Page.loadEventFired') // it asks again
    await tab.until("document.documentElement.dataset.state === 'full'")
    assert.deepEqual(headings, []) // and claims nothing else meanwhile, such as that it has no cookies
    await line[0].leave()
    await tab.until(`${isWaiting} && ${number} === '2'`)
    assert.equal(headings.at(-1), 'You are in line')
  },

  'without scripts it sees its place, may switch the refresh off, and enters with it on (WCAG F41)': async ({ browser, proxy, site }) => {
    const { holder, line } = await proxy.fill('plain', 1)
    const tab = await (await browser.person()).tab({ scripts: false })
    const refresh = "document.querySelector('meta[http-equiv=refresh]')?.content"
    await tab.open(proxy.page('plain'))
    assert.equal(await tab.evaluate('document.documentElement.dataset.state'), 'arrived')
    await tab.reload()
    assert.equal(await tab.evaluate(number), '2')
    assert.equal(await tab.evaluate(refresh), '20')
    const isShown = id => tab.evaluate(`document.getElementById('${id}').checkVisibility()`)
    for (const button of ['call', 'hold', 'leave']) assert.equal(await isShown(button), false)

    const press = async action => {
      const loaded = tab.next('Page.loadEventFired')
      await click(tab, `form[action$="${action}"] button`)
      await loaded
      assert.equal(await tab.evaluate('location.pathname'), '/plain')
      assert.equal(await tab.evaluate(number), '2')
    }
    await press('/refresh/off')
    assert.equal(await tab.evaluate(refresh), undefined)
    await press('/refresh/on')
    assert.equal(await tab.evaluate(refresh), '20')

    await line[0].leave()
    await holder.leave()
    await tab.next('Page.loadEventFired') // by itself, after those 20 s
    assert.equal(await tab.evaluate('document.title'), 'inside')
    assert.equal(site.browserVisits('/plain').length, 1)
  }
}

// Where scripts are off, a click has to come from the mouse.
export async function click (tab, selector) {
  const { root } = await tab.send('DOM.getDocument')
  const { nodeId } = await tab.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  await tab.send('DOM.scrollIntoViewIfNeeded', { nodeId })
  const { model } = await tab.send('DOM.getBoxModel', { nodeId })
  const [left, top, right, , , bottom] = model.content
  const at = { x: (left + right) / 2, y: (top + bottom) / 2, button: 'left', clickCount: 1 }
  await tab.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at })
  await tab.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at })
}
