package bench

import (
	"context"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

const (
	clearBatch   = 1000
	clearTimeout = 2 * time.Minute
)

// Clear removes from a Redis of its own, or from its namespace, all that the benchmark has left there: of orders and
// carts, of guests and members, of the menu. Much of it would otherwise live until a day after its business date, and
// documents for ever. It comes after the server was stopped: a running one would take the loss for an accident and build
// everything anew.
func Clear(ctx context.Context, c Config) error {
	if c.RedisURL == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clearTimeout)
	defer cancel()
	redis, err := redisdb.Open(ctx, redisdb.Config{URL: c.RedisURL, Namespace: c.Namespace, Timeout: rawPatient})
	if err != nil {
		return err
	}
	defer redis.Close()
	return redis.Scan(ctx, "", func(_ string, found []string) error {
		keys := make([]keyspace.Key, 0, len(found))
		for _, raw := range found {
			if k, ok := keyspace.Parse(raw); ok { // what nobody has declared is not the benchmark's
				keys = append(keys, k)
			}
		}
		return unlink(ctx, redis, keys)
	})
}

// unlink removes keys in their order.
func unlink(ctx context.Context, redis *redisdb.DB, keys []keyspace.Key) error {
	for len(keys) > 0 {
		some := keys[:min(len(keys), clearBatch)]
		keys = keys[len(some):]
		cmds := make([]redisdb.Cmd, len(some))
		for i, k := range some {
			cmds[i] = redisdb.Command("UNLINK", k)
		}
		if _, err := redis.DoMulti(ctx, cmds...); err != nil {
			return err
		}
	}
	return nil
}
