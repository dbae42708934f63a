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

// Clear removes all keys of the benchmark from its own Redis or namespace: orders, carts, guests, members, menu.
// Otherwise many would live until a day after their business date, and documents forever. Call it after the server has
// stopped: a running server would treat the loss as a failure and rebuild everything. Keys that package keyspace does
// not declare stay. It may be called again after an error.
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
	return redis.Walk(ctx, "", nil, func(_ *redisdb.Master, found []redisdb.KeyInfo) error {
		keys := make([]keyspace.Key, 0, len(found))
		for _, info := range found {
			if k, ok := keyspace.Parse(info.Key); ok { // undeclared keys are not the benchmark's
				keys = append(keys, k)
			}
		}
		return unlink(ctx, redis, keys)
	})
}

// unlink removes keys in order. Batches keep the commands of one round trip below a size that would block Redis or fill
// its buffers. UNLINK frees the memory in the background.
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
