package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/clock"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/worker"
)

// Retention of data that is only needed for a while.
const (
	keepLog    = 30 * 24 * time.Hour // history of published events
	keepDedupe = 7 * 24 * time.Hour  // longer than any broker keeps one of our messages
	keepCarts  = 2 * time.Hour       // carts that guests shared, of closed visits; phones read for 30 minutes more
	keepEarly  = 7 * 24 * time.Hour  // confirmations that arrived before their reservation
)

// reconcileInterval is the interval at which the admission cache is compared with the ledger. Two comparisons and a
// rebuild fit into the ten seconds within which both must be equal again (I9).
const reconcileInterval = 1500 * time.Millisecond

// syncerLoops keep the admission cache equal to the ledger. gate_apply runs until it is stopped, so its interval is
// only the pause before a restart. The other loops find in SQL the changes that gate_apply has missed.
func (k *Core) syncerLoops() []worker.Loop {
	return append(k.mirrorLoops(), []worker.Loop{
		{Name: "gate_apply", Run: k.Syncer.Apply, Every: 10 * time.Millisecond},
		{Name: "gate_recover", Run: k.Syncer.Replay, Every: time.Second, Timeout: 20 * time.Second, MaxPause: 2 * time.Second},
		whenReliable(k.DB.Clock(), worker.Loop{
			Name: "gate_reap", Run: k.Syncer.ExpireProvisional,
			Every: 2 * time.Second, Timeout: 20 * time.Second, MaxPause: 2 * time.Second,
		}),
		{
			Name: "gate_watch", Run: k.Syncer.Reconcile, Every: reconcileInterval, Timeout: 20 * time.Second,
			MaxPause: 2 * time.Second,
		},
	}...)
}

// commonLoops run in every process.
func (k *Core) commonLoops() []worker.Loop {
	loops := []worker.Loop{
		// Each process reads values that are sealed with the key in Redis. The interval limits how long a withdrawn key is
		// still accepted.
		{Name: "token_key", Run: k.syncTokenKey, Every: 3 * time.Second, Timeout: 3 * time.Second},
		k.settingsLoop(),
		newMemory().loop(),
	}
	return slices.Concat(loops, k.documentLoops(), k.Live.Loops())
}

// requestLoops run in every process that serves requests.
func (k *Core) requestLoops() []worker.Loop {
	loops := []worker.Loop{
		// Writes when each guest was last seen. Without these times, visits in use would be closed as idle.
		{Name: "guests", Run: k.Guests.FlushSeen, Every: 5 * time.Second, Timeout: 10 * time.Second},
		// If the revoked sessions cannot be read for five seconds, every access token is refused.
		{
			Name: "guard", Run: k.Authenticator.SyncRevocations, Every: time.Second, Timeout: 3 * time.Second,
			MaxPause: time.Second,
		},
		// If a process is killed, the loops that lastWrites repeats lose the data of one interval.
		{Name: "sessions", Run: k.Authenticator.FlushLastSeen, Every: 5 * time.Second, Timeout: 10 * time.Second},
		k.viewsLoop(),
		k.activityLoop(),
		k.refreshMenusLoop(),
		{Name: "incidents", Run: k.writeIncidents, Every: 5 * time.Second, Timeout: 10 * time.Second},
		// If the permissions cannot be read for five seconds, all accounts but owners are refused. The function reads
		// k.Authorizer in each round, because syncPermissions sets it after the loops are created.
		{
			Name: "rights", Every: time.Second, Timeout: 3 * time.Second, MaxPause: time.Second,
			Run: func(ctx context.Context) error { return k.Authorizer.Refresh(ctx) },
		},
	}
	return append(loops, k.snapshotLoops()...)
}

// lastWrites writes what this process has collected for its next round of these loops when it stops, so that an orderly stop
// loses nothing: refused requests, when guests and sessions were last seen, views and active members.
type lastWrites struct{ *Core }

// lastWritesTime is how long a stop waits for them. A database that does not answer costs these figures, not the stop.
const lastWritesTime = 2 * time.Second

// Start implements worker.Service.
func (lastWrites) Start(context.Context) error { return nil }

// Stop implements worker.Service.
func (w lastWrites) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastWritesTime)
	defer cancel()
	err := errors.Join(w.writeIncidents(ctx), w.Guests.FlushSeen(ctx), w.Authenticator.FlushLastSeen(ctx),
		w.Analytics.Flush(ctx), w.Activity.Flush(ctx))
	if err != nil {
		w.Log.WarnContext(ctx, "the audit log, times of last use and reports may lack the last seconds", "err", err)
	}
	return nil
}

// gatewayInterval is the polling interval for due calls to gateways. It is short because a guest waits for the answer.
const gatewayInterval = time.Second

// workLoops are the loops of the role worker. Several processes may run them: each piece of work is done by one.
func (k *Core) workLoops(log *slog.Logger, reg prometheus.Registerer) []worker.Loop {
	c := k.DB.Clock()
	loops := []worker.Loop{
		whenReliable(c, worker.Loop{
			Name: "visits", Run: k.excludingMoves(k.Floor.RunOnce), Every: 5 * time.Second, Timeout: 20 * time.Second,
		}),
		{Name: "measure", Run: k.measure, Every: 5 * time.Second, Timeout: 5 * time.Second},
		{Name: "kitchen_watch", Run: k.measureKitchen, Every: kitchenInterval, Timeout: 10 * time.Second},
		{Name: "statistics", Run: k.DB.RefreshStatistics, Every: time.Second, Timeout: 30 * time.Second},
		{Name: "order_names", Run: k.OrderReader.IndexNames, Every: 2 * time.Second, Timeout: 20 * time.Second},
		k.dishSalesLoop(),
		k.activityCheckLoop(),
		whenReliable(c, worker.Loop{Name: "purge", Run: k.purge, Every: time.Hour, Timeout: 10 * time.Minute}),
		// Restores items whose time off the menu has ended. SQL restores each item once, however many processes run
		// the loop.
		whenReliable(c, worker.Loop{
			Name: "restore", Run: k.CatalogServices.Availability.RestoreDue, Every: time.Second, Timeout: 10 * time.Second,
			MaxPause: 2 * time.Second,
		}),
		whenReliable(c, worker.Loop{
			Name: "identity_purge", Every: 5 * time.Minute, Timeout: time.Minute,
			Run: func(ctx context.Context) error { return k.AccountStore.Purge(ctx, k.DB.Now()) },
		}),
		k.trustLoop(),
		k.mailingLoop(),
		// These two query the gateways for unknown outcomes, and send refunds.
		{
			Name: "payments", Run: k.Orders.CheckPayments, Every: gatewayInterval, Timeout: 2 * time.Minute,
			MaxPause: 30 * time.Second,
		},
		{
			Name: "refunds", Run: k.Orders.SendRefunds, Every: gatewayInterval, Timeout: 2 * time.Minute,
			MaxPause: 30 * time.Second,
		},
		{Name: "payments_watch", Run: k.measurePayments, Every: 30 * time.Second, Timeout: 10 * time.Second},
	}
	if k.keepsDocuments() {
		loops = append(loops, k.verifyLoop())
	}
	return slices.Concat(loops, k.rankingLoops(), k.mailLoops(log, reg), k.pushLoops(log, reg))
}

// sweeper expires unpaid orders whose deadline has passed (I10). Each round expires all orders that are due in SQL,
// whatever earlier rounds have missed. A message from the broker may start a round earlier, but none is needed.
func (k *Core) sweeper() worker.Loop {
	return worker.Loop{
		Name: "sweeper", Every: time.Second, Timeout: 30 * time.Second, MaxPause: 2 * time.Second,
		Run: func(ctx context.Context) error {
			_, err := k.Orders.ExpireOverdue(ctx)
			return err
		},
	}
}

// catchUpTime is how long after its start a process leaves overdue reservations alone: a confirmation that was sent in
// time may still wait at the broker.
const catchUpTime = 30 * time.Second

// reservations expires other systems' reservations whose deadline has passed. It expires nothing before caughtUp is
// closed or catchUpTime has passed.
func (k *Core) reservations(caughtUp <-chan struct{}) worker.Loop {
	running := clock.Start()
	return whenReliable(k.DB.Clock(), worker.Loop{
		Name: "reservations", Every: time.Second, Timeout: 30 * time.Second, MaxPause: 2 * time.Second,
		Run: func(ctx context.Context) error {
			select {
			case <-caughtUp:
			default:
				if running.Elapsed() < catchUpTime {
					return nil
				}
			}
			return k.ReservationService.ExpireOverdue(ctx)
		},
	})
}

// relayInterval is the relay's polling interval while idle; under load it does not pause.
const relayInterval = 100 * time.Millisecond

// relayLoop runs a relay. While the broker is unreachable, the relay tries every ten seconds, so that events are
// published soon after the broker is back.
func relayLoop(r *outbox.Relay) worker.Loop {
	return worker.Loop{Name: "relay", Run: r.RunOnce, Every: relayInterval, Timeout: time.Minute, MaxPause: 10 * time.Second}
}

// measure exports figures that are only in SQL. Every process with the role exports the same figures, so alerts use
// the maximum and not the sum.
func (k *Core) measure(ctx context.Context) error {
	now := k.DB.Now()
	// An error in one part does not keep the others from being measured.
	n, oldest, err := paymentsql.OutstandingRefunds(ctx, k.DB)
	if err == nil {
		k.Metrics.refundsDue.Set(float64(n))
		k.Metrics.refundAge.Set(0)
		if n > 0 {
			k.Metrics.refundAge.Set(now.Sub(oldest).Seconds())
		}
	}
	return errors.Join(err, k.measureStock(ctx, now), k.measureDocuments(ctx))
}

// maxTicketAge is the age up to which tickets count as waiting; older ones are no longer cooked.
const maxTicketAge = 24 * time.Hour

// kitchenInterval is the age of the metric of waiting tickets. It is longer than that of measure, because the statement
// reads the orders of two business dates.
const kitchenInterval = 30 * time.Second

// measureKitchen exports how long the first ticket of each branch has waited. A branch without tickets has no series.
func (k *Core) measureKitchen(ctx context.Context) error {
	now := k.DB.Now()
	oldest, err := k.OrderReader.OldestTickets(ctx, now.Add(-maxTicketAge))
	if err != nil {
		return err
	}
	k.Metrics.tickets.Reset()
	for branch, since := range oldest {
		k.Metrics.tickets.WithLabelValues(strconv.FormatInt(branch, 10)).Set(now.Sub(since).Seconds())
	}
	return nil
}

// measureStock exports Redis's lag, overdue reservations and low stock.
func (k *Core) measureStock(ctx context.Context, now time.Time) error {
	m := k.Metrics
	if err := m.ops.measure(k.Stock.Backlog(ctx, now)); err != nil {
		return err
	}
	for _, of := range []struct {
		look func(context.Context, time.Time) (int64, time.Duration, error)
		n    prometheus.Gauge
		age  prometheus.Gauge
	}{
		{k.Stock.OverdueOrders, m.overdue.WithLabelValues("orders"), m.overdueAge.WithLabelValues("orders")},
		{
			k.Reservations.OverdueReservations, m.overdue.WithLabelValues("reservations"),
			m.overdueAge.WithLabelValues("reservations"),
		},
	} {
		n, age, err := of.look(ctx, now)
		if err != nil {
			return err
		}
		of.n.Set(float64(n))
		of.age.Set(age.Seconds())
	}
	low, err := k.Stock.LowItems(ctx)
	if err != nil {
		return err
	}
	for branch, n := range low {
		m.low.WithLabelValues(strconv.FormatInt(branch, 10)).Set(float64(n))
	}
	return nil
}

// purge deletes rows past their retention. Most tables are purged in small statements; after an error the next round
// continues. A table that cannot be purged does not keep the others from it.
func (k *Core) purge(ctx context.Context) error {
	now := k.DB.Now()
	_, logErr := outbox.PurgeLog(ctx, k.DB, now.Add(-keepLog))
	_, inboxErr := inbox.New(k.DB, inbox.Options{Log: k.Log}).Purge(ctx, now.Add(-keepDedupe))
	return errors.Join(logErr, inboxErr,
		k.CartStore.PurgeShared(ctx, now.Add(-keepCarts)),
		k.Stock.PurgeEarlyConfirms(ctx, now.Add(-keepEarly)),
		k.purgeMailings(ctx, now),
		k.purgeViews(ctx, now),
		k.purgeActivity(ctx, now),
		k.NoticeStore.Purge(ctx, now, noticeRetention),
		k.purgeTombstones(ctx))
}
