package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/live"
	"comanda/internal/stock"
)

// wireLive has every change wake the live streams that show it, here and in other processes. What is told travels one
// way: what this process hears it tells nobody.
func (k *Core) wireLive(reg prometheus.Registerer) {
	k.Live = live.New(k.Redis, live.Handlers{Changed: k.heard, Missed: k.missed}, reg)
	k.Ledger.Watches().Told = k.Live.NotifyOrders
	k.Menus.OnChange = func(branch int64) {
		k.Boards.MenuChanged(branch)
		k.Live.NotifyMenu(branch)
	}
	k.Floor.OnChange = func(branch int64) {
		k.Ledger.Watches().Wake(branch)
		k.Live.NotifyFloor(branch)
	}
}

// syncerObserver counts what the syncer does, and is notified when something else is left: what streams then read is
// what they are to show.
func (k *Core) syncerObserver() stock.Observer {
	o := k.Metrics.syncer()
	o.Synced = func(branch int64) {
		k.Boards.LevelsChanged(branch)
		k.Live.NotifyAvailability(branch)
	}
	return o
}

// heard wakes who shows what another process has changed.
func (k *Core) heard(c live.Change) {
	watches := k.Ledger.Watches()
	switch {
	case c.Many:
		watches.WakeAll()
	case len(c.Orders) > 0 || c.Floor:
		watches.Wake(c.Branch, c.Orders...)
	}
	switch {
	case c.Menu:
		k.Boards.MenuChanged(c.Branch)
	case c.Left:
		k.Boards.LevelsChanged(c.Branch)
	}
}

// missed has everybody look: nobody knows what was told while this process did not hear.
func (k *Core) missed() {
	k.Ledger.Watches().WakeAll()
	k.Boards.AllChanged()
}
