package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/live"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/worker"
)

// wireLive notifies live streams of every change, here and in other processes. A process never forwards a notification
// that it received.
func (k *Core) wireLive(reg prometheus.Registerer) {
	k.Live = live.New(k.Redis, live.Handlers{
		Changed: k.received, Missed: k.receivedAny, Noticed: k.Notices.Received, NoticesMissed: k.Notices.ReceivedAny,
		Lost: func() {
			k.receivedAny()
			k.Notices.ReceivedAny()
		},
	}, reg)
	k.Ledger.Subscriptions().OnChange = k.Live.NotifyOrders
	k.Menus.OnChange = func(branch int64) {
		k.LiveMenus.MenuChanged(branch)
		k.Live.NotifyMenu(branch)
	}
	k.SharedCarts.OnChange = k.Live.NotifyCart
	k.Notices.OnChange = k.Live.NotifyReaders
	k.Orders.CartOrdered = k.SharedCarts.Changed
	// The streams of a closed visit follow its cart. They wake up, find that they no longer have access, and end.
	k.Floor.OnClosed = func(branch int64, visits []string) {
		for _, v := range visits {
			k.SharedCarts.Changed(branch, v)
		}
	}
	k.Floor.OnChange = func(branch int64) {
		k.Ledger.Subscriptions().Notify(branch)
		k.Live.NotifyFloor(branch)
	}
}

// notified reports whether streams are notified of the changes of all processes, so that they need not poll often. The
// store inside a process has no channel: then a process on SQLite is the only server of its database, and others may
// have further ones.
func (k *Core) notified() bool {
	if k.Redis.InProcess() {
		return k.DB.Engine() == sqldb.SQLite
	}
	return k.Live.Receiving()
}

// refreshMenusLoop keeps the live menus of branches with streams current, see catalog.LiveMenus.
func (k *Core) refreshMenusLoop() worker.Loop {
	return worker.Loop{Name: "live_menus", Every: catalog.RefreshInterval, Run: func(context.Context) error {
		k.LiveMenus.Refresh()
		return nil
	}}
}

// syncerObserver counts the syncer's work, and notifies streams of a changed availability. It does so after the cache
// has changed, so that they read the new value. It is created before wireLive sets k.Live, so it reads that field at
// each call.
func (k *Core) syncerObserver() stock.Observer {
	o := k.Metrics.syncer()
	o.Synced = func(branch int64) {
		k.LiveMenus.LevelsChanged(branch)
		k.Live.NotifyAvailability(branch)
	}
	return o
}

// received notifies the streams that show the data that another process has changed.
func (k *Core) received(c live.Change) {
	watches := k.Ledger.Subscriptions()
	switch {
	case c.Many:
		watches.NotifyAll()
	case len(c.Orders) > 0 || c.Floor:
		watches.Notify(c.Branch, c.Orders...)
	}
	k.SharedCarts.Notify(c.Carts...)
	if c.Cart {
		k.SharedCarts.NotifyAll()
	}
	switch {
	case c.Menu:
		k.LiveMenus.MenuChanged(c.Branch)
	case c.Left:
		k.LiveMenus.LevelsChanged(c.Branch)
	}
}

// receivedAny notifies all streams, because this process may have missed notifications while it was disconnected.
func (k *Core) receivedAny() {
	k.Ledger.Subscriptions().NotifyAll()
	k.SharedCarts.NotifyAll()
	k.LiveMenus.AllChanged()
}
