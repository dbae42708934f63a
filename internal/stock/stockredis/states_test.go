package stockredis

import (
	"context"
	"slices"
	"strings"

	"comanda/internal/redisdb"
	"comanda/internal/stock"
)

// States returns the states of holds of a scope under an epoch; holds that the cache lacks are left out. They are
// read after ReadScope, not together with it, so a difference to SQL counts only if a second reading still shows it.
func (ac *Cache) States(ctx context.Context, s stock.Scope, epoch string, ids []string) (map[string]stock.State, error) {
	states := make(map[string]stock.State, len(ids))
	for batch := range slices.Chunk(ids, maxLines) {
		cmds := make([]redisdb.Cmd, len(batch))
		for i, id := range batch {
			cmds[i] = redisdb.Command("HGET", recordKey(s, id), "s")
		}
		replies, err := ac.db.DoMulti(ctx, cmds...)
		if err != nil {
			return nil, err
		}
		for i, r := range replies {
			text, _, err := r.Text()
			if err != nil {
				return nil, err
			}
			if state, of, _ := strings.Cut(text, " "); state != "" && (of == "" || of == epoch) {
				states[batch[i]] = stock.State(state)
			}
		}
	}
	return states, nil
}
