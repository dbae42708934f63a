package stockredis

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
)

// Hot keeps what shop windows show. It implements stock.Copies.
type Hot struct{ db *redisdb.DB }

// NewHot makes it on a connection.
func NewHot(db *redisdb.DB) *Hot { return &Hot{db} }

// Read gives the glances that are there, in one exchange.
func (h *Hot) Read(ctx context.Context, branch int64, skus []string) ([]stock.Glance, error) {
	cmds := make([]redisdb.Cmd, len(skus))
	for i, sku := range skus {
		cmds[i] = redisdb.Command("HMGET", keyspace.HotInventory(branch, sku), "available", "lastUpdate")
	}
	replies, err := h.db.DoMulti(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	glances := make([]stock.Glance, 0, len(skus))
	for i, sku := range skus {
		fields, err := replies[i].Texts()
		if err != nil {
			return nil, err
		}
		if g, ok := glanceOf(fields); ok {
			g.Branch, g.SKU = branch, sku
			glances = append(glances, g)
		}
	}
	return glances, nil
}

// glanceOf reads what Write has written; anything else is as good as missing.
func glanceOf(fields []string) (g stock.Glance, ok bool) {
	if len(fields) != 2 || fields[1] == "" {
		return g, false
	}
	at, err := time.Parse(time.RFC3339Nano, fields[1])
	if err != nil {
		return g, false
	}
	g.At = at.UTC()
	g.Available, err = strconv.ParseInt(fields[0], 10, 64)
	return g, err == nil
}

// Write keeps glances for as long as they may be shown, all in one exchange.
func (h *Hot) Write(ctx context.Context, glances []stock.Glance) error {
	cmds := make([]redisdb.Cmd, len(glances))
	life := strconv.FormatInt(stock.GlanceAge.Milliseconds(), 10)
	for i, g := range glances {
		cmds[i] = hotScript.Command([]keyspace.Key{keyspace.HotInventory(g.Branch, g.SKU)},
			decimal(g.Available), g.At.UTC().Format(time.RFC3339Nano), life)
	}
	_, err := h.db.DoMulti(ctx, cmds...)
	return err
}
