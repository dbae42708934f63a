// Package catalogredis shares loaded menus between processes.
//
// A copy only saves the large SQL query after a start or a publication. A reader first reads the branch's revision from SQL
// and uses a copy only if its revision is that one or a later one. A lost invalidation or a slow writer therefore never
// shows an outdated menu. Without Redis every process loads from SQL. Orders are priced from copies, so each is sealed
// with a key that is not in Redis.
package catalogredis

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

const (
	copyTTL       = 3 * time.Minute
	copyTTLJitter = 30 * time.Second // spreads the expiry of copies that were written together
	lockTTL       = 3 * time.Second  // the longest time that one process may fill a copy

	// The wait is short: a copy only saves work, and a process that receives none loads the menu itself.
	fillWait = 100 * time.Millisecond // how long to wait for another process's copy before loading
	fillPoll = 20 * time.Millisecond  // interval of reads during the wait
)

//go:embed lua/*.lua
var files embed.FS

var unlock = redisdb.MustScript(files, "lua/unlock.lua")

// Cache implements catalog.SharedCache in Redis.
type Cache struct{ db *redisdb.DB }

// New returns a cache on a connection.
func New(db *redisdb.DB) *Cache { return &Cache{db} }

// GetOrLoad returns the shared copy if its revision is recent enough, else the result of load. One process at a time
// fills the copy. Others wait for it up to fillWait and then load without filling.
func (c *Cache) GetOrLoad(
	ctx context.Context, branch, revision int64, load func(context.Context) (catalog.Content, error),
) (catalog.Content, error) {
	got, ok, err := c.get(ctx, branch, revision)
	if ok {
		return got, nil
	}
	if err != nil {
		return load(ctx)
	}
	// The token shows in unlock and store whether the lock is still this process's own.
	token := rand.Text()
	_, locked, err := c.db.Do(ctx, "SET", keyspace.MenuActiveLock(branch), token, "NX", "PX", millis(lockTTL)).Text()
	switch {
	case err != nil:
		return load(ctx)
	case locked:
		return c.fill(ctx, branch, revision, token, load)
	}
	// The result is not stored as a copy, because the process that has the lock stores one.
	if got, ok := c.await(ctx, branch, revision); ok {
		return got, nil
	}
	return load(ctx)
}

// get returns the copy if it is sealed, of this branch and recent enough. An error means that Redis is unavailable.
func (c *Cache) get(ctx context.Context, branch, revision int64) (catalog.Content, bool, error) {
	text, found, err := c.db.Do(ctx, "GET", keyspace.MenuActive(branch)).Text()
	if err != nil || !found {
		return catalog.Content{}, false, err
	}
	var got catalog.Content
	body, ok := c.open(branch, text)
	if !ok || json.Unmarshal([]byte(body), &got) != nil || got.Revision < revision || got.Edition.BranchID != branch {
		//nolint:nilerr // outdated, badly sealed or of another release: treated as missing
		return catalog.Content{}, false, nil
	}
	return got, true, nil
}

// fill loads and stores a copy under a lock. The lock and the copy are in different slots of a Redis Cluster, so one
// script cannot check the lock and write the copy. If the lock expires between the check in store and the write, unlock
// returns 0 and fill deletes the copy.
func (c *Cache) fill(
	ctx context.Context, branch, revision int64, token string, load func(context.Context) (catalog.Content, error),
) (catalog.Content, error) {
	got, found, err := c.get(ctx, branch, revision) // another process may have filled it before this one took the lock
	if !found {
		if got, err = load(ctx); err == nil {
			c.store(ctx, branch, token, got)
		}
	}
	lock := keyspace.MenuActiveLock(branch)
	if held, _ := c.db.Run(ctx, unlock, []keyspace.Key{lock}, []string{token}).Int(); held == 0 {
		_ = c.db.Do(ctx, "DEL", keyspace.MenuActive(branch)).Err()
	}
	return got, err
}

// store writes a copy unless the lock was lost: it expired, or Delete removed it because the menu changed during the
// load.
func (c *Cache) store(ctx context.Context, branch int64, token string, got catalog.Content) {
	holder, _, _ := c.db.Do(ctx, "GET", keyspace.MenuActiveLock(branch)).Text()
	text, err := json.Marshal(got)
	if err != nil || holder != token {
		return
	}
	ttl := copyTTL + mathrand.N(copyTTLJitter) //nolint:gosec // not a secret
	_ = c.db.Do(ctx, "SET", keyspace.MenuActive(branch), c.seal(branch, string(text)), "PX", millis(ttl)).Err()
}

// A copy is a JSON object whose first member is the seal.
const (
	sealOpen  = `{"seal":"`
	sealClose = `",`
)

// seal adds the seal to a copy.
func (c *Cache) seal(branch int64, body string) string {
	return sealOpen + c.db.Seal(keyspace.MenuActive(branch), body) + sealClose + body[1:]
}

// open verifies and removes the seal. ok is false if this installation has not written the copy.
func (c *Cache) open(branch int64, text string) (body string, ok bool) {
	rest, ok := strings.CutPrefix(text, sealOpen)
	if !ok || len(rest) < redisdb.SealChars {
		return "", false
	}
	body, ok = strings.CutPrefix(rest[redisdb.SealChars:], sealClose)
	body = "{" + body
	return body, ok && c.db.Sealed(rest[:redisdb.SealChars], keyspace.MenuActive(branch), body)
}

// await polls for the copy that another process is filling.
func (c *Cache) await(ctx context.Context, branch, revision int64) (catalog.Content, bool) {
	ctx, cancel := context.WithTimeout(ctx, fillWait)
	defer cancel()
	tick := time.NewTicker(fillPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return catalog.Content{}, false
		case <-tick.C:
		}
		if got, ok, err := c.get(ctx, branch, revision); ok || err != nil {
			return got, ok
		}
	}
}

// Delete removes the copy of a branch and the lock of a process that is filling it. Losing a Delete is harmless,
// because readers check the revision.
func (c *Cache) Delete(ctx context.Context, branch int64) {
	_, _ = c.db.DoMulti(ctx,
		redisdb.Command("DEL", keyspace.MenuActiveLock(branch)), redisdb.Command("DEL", keyspace.MenuActive(branch)))
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
