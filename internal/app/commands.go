package app

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/document/documentsql"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/event/rabbit"
	"comanda/internal/identity"
	"comanda/internal/keyspace"
	"comanda/internal/queue"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
	"comanda/internal/system"
)

// SetQuota changes an item's quota from today on, from a command beside running servers. Redis notifies them at once;
// without Redis they read it from SQL within seconds.
func SetQuota(ctx context.Context, c Config, item int64, quota *int64) error {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	redis, err := AttachRedis(ctx, c)
	if err != nil { // SQL decides; servers update Redis from it later
		redis, err = redisdb.Open(ctx, redisdb.Config{})
		if err != nil {
			return err
		}
	}
	defer redis.Close()
	k, err := NewCore(ctx, Deps{
		Config: c, DB: db, Redis: redis, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Editor.SetQuota(ctx, identity.System(), item, quota)
}

// StockLine is a counter of a menu item on its branch's current business date, or of a stock item.
type StockLine struct {
	Kind     string `json:"kind"` // QUOTA or STOCK
	BranchID int64  `json:"branchId,string"`
	BizDate  string `json:"bizDate,omitempty"`
	ItemID   string `json:"itemId"` // the id that other systems use; of a stock item only
	Name     string `json:"name"`
	Cap      *int64 `json:"cap"` // null is unlimited; of a stock item, the quantity in stock
	Held     int64  `json:"held"`
	Used     int64  `json:"used"`
	Left     *int64 `json:"left"`
	Low      bool   `json:"low,omitempty"` // the rest is at or below the stock item's low mark
}

// The kinds of counters.
const (
	quotaLine = "QUOTA"
	thingLine = "STOCK"
)

// StockToday lists by branch the items of the published menus with today's counters, and the stock items. An item
// without a counter yet has its initial values.
func StockToday(ctx context.Context, db *sqldb.DB, branch int64) ([]StockLine, error) {
	store := catalogsql.New(db, nil)
	branches, err := store.Branches(ctx)
	if err != nil {
		return nil, err
	}
	lines := []StockLine{}
	for _, b := range branches {
		if branch != 0 && b.ID != branch {
			continue
		}
		some, err := stockOf(ctx, db, store, b)
		if err != nil {
			return nil, err
		}
		things, err := thingsOf(ctx, db, b.ID)
		if err != nil {
			return nil, err
		}
		lines = slices.Concat(lines, some, things)
	}
	return lines, nil
}

func thingsOf(ctx context.Context, db *sqldb.DB, branch int64) ([]StockLine, error) {
	levels, _, err := stocksql.New(db).Levels(ctx, stock.LevelFilter{Branch: branch, Limit: math.MaxInt32})
	lines := make([]StockLine, len(levels))
	for i, l := range levels {
		all := l.Available + l.Reserved + l.Sold
		lines[i] = StockLine{
			Kind: thingLine, BranchID: l.Branch, ItemID: l.SKU, Name: l.Name, Cap: &all, Held: l.Reserved, Used: l.Sold,
			Left: &l.Available, Low: l.Low(),
		}
	}
	return lines, err
}

func stockOf(ctx context.Context, db *sqldb.DB, store *catalogsql.Store, b catalog.Branch) ([]StockLine, error) {
	content, err := store.Content(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	date := b.Calendar().BizDate(db.Now())
	counts, err := stocksql.New(db).Counts(ctx, stock.Scope{Branch: b.ID, Date: date})
	if err != nil {
		return nil, err
	}
	byItem := map[int64]stock.Count{}
	for _, c := range counts {
		byItem[c.Item] = c
	}
	lines := make([]StockLine, len(content.Edition.Items))
	for i, it := range content.Edition.Items {
		c, counted := byItem[it.ID]
		if quota, limited := content.Quotas[it.ID]; !counted {
			c.Cap = stock.Unlimited
			if limited {
				c.Cap = quota
			}
		}
		lines[i] = StockLine{
			Kind: quotaLine, BranchID: b.ID, BizDate: date, ItemID: strconv.FormatInt(it.ID, 10),
			Name: it.Names.In(b.Locales...), Held: c.Held, Used: c.Used,
		}
		if c.Cap != stock.Unlimited {
			limit, left := c.Cap, c.Left()
			lines[i].Cap, lines[i].Left = &limit, &left
		}
	}
	return lines, nil
}

// ReadOutbox counts waiting events and dead letters.
func ReadOutbox(ctx context.Context, db *sqldb.DB) (system.Outbox, error) {
	events, err := outbox.ReadStatus(ctx, db)
	if err != nil {
		return system.Outbox{}, err
	}
	s := system.Outbox{
		Pending: events.Pending, OldestAgeSeconds: events.OldestAgeSeconds, ByType: events.ByType, Dead: events.Dead,
	}
	now := db.Now()
	if s.PublishedPerMinute, err = outbox.CountPublished(ctx, db, now.Add(-time.Minute)); err != nil {
		return s, err
	}
	entries, err := stocksql.New(db).Backlog(ctx, now)
	if err != nil {
		return s, err
	}
	s.Redis = system.Redis{
		Pending: entries.Pending, OldestAgeSeconds: entries.Age.Seconds(), Dead: entries.Dead,
		DeadAgeSeconds: entries.DeadAge.Seconds(),
	}
	changes, err := documentsql.New(db).Backlog(ctx, now)
	s.Documents = system.Documents{Pending: changes.Pending, OldestAgeSeconds: changes.Age.Seconds()}
	return s, err
}

// Replay sends dead letters again, from a command beside running servers.
func Replay(ctx context.Context, db *sqldb.DB, f system.ReplayFilter) (system.Replayed, error) {
	desk := stocksql.NewReservations(db, noCache{}, db.Now)
	defer desk.Stop()
	return replay(ctx, db, desk, f)
}

func replay(
	ctx context.Context, db *sqldb.DB, desk *stocksql.Reservations, f system.ReplayFilter,
) (sum system.Replayed, err error) {
	if f.Type == "" && (f.Consumer == "" || f.Consumer == queue.RedisConsumer) {
		n, err := stocksql.New(db).RetryDead(ctx, f.ID)
		sum.Revived = int(n)
		if err != nil || f.Consumer == queue.RedisConsumer {
			return sum, err
		}
	}
	filter := eventsql.Filter{Type: f.Type, ID: f.ID}
	if f.Consumer == "" || f.Consumer == queue.RelayConsumer {
		n, err := outbox.Replay(ctx, db, filter)
		sum.Relayed = n
		if err != nil {
			return sum, err
		}
	}
	in := inbox.New(db, inbox.Options{})
	known := f.Consumer == "" || f.Consumer == queue.RelayConsumer
	for _, c := range Consumers(desk) {
		if f.Consumer != "" && f.Consumer != c.Name {
			continue
		}
		known = true
		r, err := in.Replay(ctx, c, filter)
		sum.Applied += r.Applied
		sum.Failed += r.Failed
		if err != nil {
			return sum, err
		}
	}
	if !known {
		return sum, fmt.Errorf("%q is not a consumer", f.Consumer)
	}
	return sum, nil
}

// noCache is the admission cache of a command beside running servers: it does nothing, because the servers apply the
// changes that the command leaves in redis_outbox.
type noCache struct{}

func (noCache) EnqueueCommitted([]stock.OutboxEntry) {}

func (noCache) DrainApplied() []string { return nil }

// Document returns one of the documents that are generated from the code.
func Document(name string) (string, error) {
	switch name {
	case "events":
		c, err := LoadConfig(nil, nil, "", nil)
		return event.Markdown() + "\n" + rabbit.Markdown(c.PaymentWindow, Consumers(nil)), err
	case "keys":
		return keyspace.Markdown(), nil
	case "configuration":
		return configurationHead + SettingsMarkdown(), nil
	case "openapi":
		return openAPI()
	}
	return "", fmt.Errorf("%q is not a generated document", name)
}

const configurationHead = "# Configuration\n\n" +
	"A flag takes precedence over the environment, and the environment over the file of `--config` (lines of\n" +
	"NAME=value). Unknown names are refused. `comanda doctor` shows the settings in force, without secrets.\n\n"

// openAPI renders the contract of all routes, the sandbox's included, without opening a store.
func openAPI() (string, error) {
	c, err := LoadConfig(map[string]string{"COMANDA_SANDBOX_PAYMENTS": "on"}, nil, "", nil)
	if err != nil {
		return "", err
	}
	api, err := routeTable(c)
	if err != nil {
		return "", err
	}
	yaml, err := api.YAML()
	return string(yaml), err
}
