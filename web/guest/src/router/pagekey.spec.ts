import { mount } from '@vue/test-utils'
import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter, RouterView, useRoute } from 'vue-router'

import { pageKey } from './pagekey'

test('another order opens another page, and a dialog does not reload the page below it', async () => {
  const begun: string[] = []
  const page = (name: string) => defineComponent({
    props: { id: { type: String, default: '' } },
    setup: (props) => {
      begun.push(name + props.id) // as a page that follows its order from now on
      return () => h('main', h(RouterView))
    },
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/menu', component: page('menu'), children: [{ path: 'item/:itemId', component: page('dish') }] },
      { path: '/orders/:id', component: page('order '), props: true },
    ],
  })
  await router.push('/orders/1')
  mount(defineComponent(() => {
    const route = useRoute()
    return () => h(RouterView, { key: pageKey(route) })
  }), { global: { plugins: [router] } })
  for (const path of ['/orders/2', '/orders/2?again', '/menu', '/menu/item/7', '/menu/item/8', '/menu', '/orders/1']) await router.push(path)
  expect(begun).toEqual(['order 1', 'order 2', 'menu', 'dish', 'order 1'])
})
