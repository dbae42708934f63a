package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/event"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/event/rabbit"
	"comanda/internal/identity"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/sqldb"
	"comanda/internal/stock"
	"comanda/internal/stock/stocksql"
)

// SetQuota changes an item's quota from today on, as a command beside running servers. They hear of it through Redis at
// once, or within some seconds through SQL.
func SetQuota(ctx context.Context, c Config, item int64, quota *int64) error {
	db, err := OpenDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer db.Close()
	redis, err := AttachRedis(ctx, c)
	if err != nil { // SQL decides; whoever has Redis hears of it from there
		redis, err = redisdb.Open(ctx, redisdb.Config{})
		if err != nil {
			return err
		}
	}
	defer redis.Close()
	k := NewCore(c, db, redis, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	defer k.Close()
	return k.Editor.SetQuota(ctx, identity.System(), item, quota)
}

// StockLine is an item's counter on the current business date of its branch.
type StockLine struct {
	BranchID int64  `json:"branchId,string"`
	BizDate  string `json:"bizDate"`
	ItemID   int64  `json:"itemId,string"`
	Dish     string `json:"dish"`
	Cap      *int64 `json:"cap"` // null is unlimited
	Held     int64  `json:"held"`
	Used     int64  `json:"used"`
	Left     *int64 `json:"left"`
}

// StockToday lists the items of the published menus with their counters of today. An item without a counter yet is
// shown as it will begin.
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
		lines = append(lines, some...)
	}
	return lines, nil
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
			BranchID: b.ID, BizDate: date, ItemID: it.ID, Dish: it.Names.In(b.Locales...), Held: c.Held, Used: c.Used,
		}
		if c.Cap != stock.Unlimited {
			limit, left := c.Cap, c.Left()
			lines[i].Cap, lines[i].Left = &limit, &left
		}
	}
	return lines, nil
}

// ReplayFilter selects dead letters; empty fields select all.
type ReplayFilter struct {
	Consumer string // "relay" for what the relay gave up
	Type     string
	ID       string
}

// Replayed tells what became of dead letters.
type Replayed struct {
	Relayed int `json:"relayed"` // back in the outbox
	Applied int `json:"applied"` // by their consumers
	Failed  int `json:"failed"`  // once more
}

// relayLetters is the name by which the relay's own dead letters are asked for.
const relayLetters = "relay"

// Replay brings dead letters on their way again.
func Replay(ctx context.Context, db *sqldb.DB, f ReplayFilter) (Replayed, error) {
	var sum Replayed
	filter := eventsql.Filter{Type: f.Type, ID: f.ID}
	if f.Consumer == "" || f.Consumer == relayLetters {
		n, err := outbox.Replay(ctx, db, filter)
		sum.Relayed = n
		if err != nil {
			return sum, err
		}
	}
	in := inbox.New(db, inbox.Options{})
	known := f.Consumer == "" || f.Consumer == relayLetters
	for _, c := range Consumers() {
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

// Document writes one of the documents that are generated from the code.
func Document(name string) (string, error) {
	switch name {
	case "events":
		c, err := LoadConfig(nil, nil, "", nil)
		return event.Markdown() + "\n" + rabbit.Markdown(c.PaymentWindow), err
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
	"Flags go over the environment, the environment over the file that `--config` names (lines of NAME=value). A name\n" +
	"that is not in this list is refused. Secrets are never printed. `comanda doctor` shows what is in force.\n\n"

// openAPI renders the contract of all routes, the sandbox's included, without touching any store.
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
