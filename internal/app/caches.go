package app

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/fault"
	"comanda/internal/sqldb"
	"comanda/internal/tagcache"
	"comanda/internal/tagcache/tagcacheredis"
	"comanda/internal/telemetry"
)

// wireCache creates the cache of computed values (decision 71). One process on SQLite has it in memory. A process with
// PostgreSQL and without a Redis has none: it may not be the only one, and would not learn of the others' changes.
func (k *Core) wireCache(reg prometheus.Registerer) {
	switch {
	case !k.Redis.InProcess():
		k.Cache = &tagcache.Cache{Store: tagcacheredis.New(k.Redis, k.DB.Now)}
	case k.DB.Engine() == sqldb.SQLite:
		k.cacheMemory = tagcache.NewMemory(k.DB.Now)
		k.Cache = &tagcache.Cache{Store: k.cacheMemory}
	default:
		return
	}
	requests := telemetry.Metrics(reg).Counters("cache_requests_total",
		"Requests for cached reports, totals, dishes and pages, by entity and result.", "entity", "result")
	k.Cache.Release = telemetry.ReadBuild().Version
	k.Cache.Requested = func(entity string, r tagcache.Result) { requests.WithLabelValues(entity, string(r)).Inc() }
	k.Projector.Changed, k.OrderProjector.Changed = k.invalidateDocuments, k.invalidateDocuments
}

// changes are the cached values that changed rows may have made outdated.
type changes struct {
	users, dishes bool
	orders        map[orderDay]struct{}
}

// orderDay is a branch and a business date.
type orderDay struct {
	Branch int64  `json:"branchId,string"`
	Date   string `json:"bizDate"`
}

// invalidateDocuments is document.Projector.Changed: the queue that leads to new documents leads to new values too. The
// documents of orders contain the dates on which reports depend.
func (k *Core) invalidateDocuments(ctx context.Context, docs []document.Document) error {
	var c changes
	for _, d := range docs {
		if d.Entity != document.Order {
			c.add(d.Entity.Name)
			continue
		}
		var day orderDay
		if d.JSON == "" {
			continue // orders are never deleted
		}
		if err := json.Unmarshal([]byte(d.JSON), &day); err != nil {
			return fault.Wrap("document of an order", err)
		}
		c.addDay(day)
	}
	return k.invalidate(ctx, c)
}

// discardChanges empties the queue of an installation that keeps no documents, and invalidates what depends on the rows.
// The values are in the memory of this process: if it is killed in between, they are gone too.
func (k *Core) discardChanges(ctx context.Context) error {
	// Without a cached report or total the dates of orders need not be read.
	days := func() bool {
		return k.cacheMemory.Holds(tagcache.Reports) || k.cacheMemory.Holds(tagcache.Orders)
	}
	return k.documentStore.Discard(ctx, days, func(d documentsql.Discarded) {
		var c changes
		for entity := range d.Entities {
			c.add(entity)
		}
		for day := range d.Orders {
			c.addDay(orderDay{day.Branch, day.Date})
		}
		_ = k.invalidate(ctx, c) // of a map in memory, which does not fail
	})
}

func (c *changes) add(entity string) {
	switch entity {
	case document.User.Name:
		c.users = true
	case document.Dish.Name, document.Category.Name:
		c.dishes = true
	}
}

func (c *changes) addDay(d orderDay) {
	if c.orders == nil {
		c.orders = map[orderDay]struct{}{}
	}
	c.orders[d] = struct{}{}
}

// invalidate removes cached values. It changes nothing while Redis is down: nothing is read from it then, and the caller
// repeats the call.
func (k *Core) invalidate(ctx context.Context, c changes) error {
	var errs []error
	if c.users {
		errs = append(errs, k.Cache.Invalidate(ctx, tagcache.Users, 0, tagcache.DateRange{}))
	}
	if c.dishes {
		errs = append(errs, k.Cache.Invalidate(ctx, tagcache.Dishes, 0, tagcache.DateRange{}))
	}
	for day := range c.orders {
		dates := tagcache.DateRange{From: day.Date, To: day.Date}
		errs = append(errs, k.Cache.Invalidate(ctx, tagcache.Reports, day.Branch, dates),
			k.Cache.Invalidate(ctx, tagcache.Orders, day.Branch, dates))
	}
	return errors.Join(errs...)
}
