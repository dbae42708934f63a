// Package catalogredis shares loaded menus among processes.
//
// The copy saves SQL the big query after a start or a publishing; it decides nothing. A reader asks SQL for the branch's
// revision first and believes a copy only if it has that revision or a later one. So neither a lost invalidation nor a
// slow writer can make anybody see an old menu, and without Redis everybody loads for themselves. Prices are taken from a
// copy, so it is sealed with a key that is not in Redis.
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
	life   = 3 * time.Minute
	jitter = 30 * time.Second // keys written together do not run out together
	lease  = 3 * time.Second  // for one filling

	patience = 100 * time.Millisecond // with another process that fills
	glance   = 20 * time.Millisecond
)

//go:embed lua/*.lua
var files embed.FS

var unlock = redisdb.MustScript(files, "lua/unlock.lua")

// Copies is catalog.Copies in Redis.
type Copies struct{ db *redisdb.DB }

// New makes copies on a connection.
func New(db *redisdb.DB) *Copies { return &Copies{db} }

// Through gives the shared copy if it has the revision, else what load gives. One process at a time fills; others wait
// for it a moment and then load without filling.
func (c *Copies) Through(
	ctx context.Context, branch, revision int64, load func(context.Context) (catalog.Content, error),
) (catalog.Content, error) {
	got, ok, err := c.get(ctx, branch, revision)
	if ok {
		return got, nil
	}
	if err != nil {
		return load(ctx)
	}
	token := rand.Text()
	_, mine, err := c.db.Do(ctx, "SET", keyspace.MenuActiveLock(branch), token, "NX", "PX", millis(lease)).Text()
	switch {
	case err != nil:
		return load(ctx)
	case mine:
		return c.fill(ctx, branch, revision, token, load)
	}
	if got, ok := c.await(ctx, branch, revision); ok {
		return got, nil
	}
	return load(ctx)
}

func (c *Copies) get(ctx context.Context, branch, revision int64) (catalog.Content, bool, error) {
	text, found, err := c.db.Do(ctx, "GET", keyspace.MenuActive(branch)).Text()
	if err != nil || !found {
		return catalog.Content{}, false, err
	}
	var got catalog.Content
	body, ok := c.open(branch, text)
	if !ok || json.Unmarshal([]byte(body), &got) != nil || got.Revision < revision || got.Edition.BranchID != branch {
		//nolint:nilerr // of another release, old, or not ours: as good as missing
		return catalog.Content{}, false, nil
	}
	return got, true, nil
}

// fill loads and stores under a lease. The lock and the copy lie in different slots of a Cluster, so no script can do
// both: a lease that is lost between the look in store and the writing shows when the lock is given back, and the copy
// is taken away again.
func (c *Copies) fill(
	ctx context.Context, branch, revision int64, token string, load func(context.Context) (catalog.Content, error),
) (catalog.Content, error) {
	got, found, err := c.get(ctx, branch, revision) // somebody may have filled it since the first look
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

// store writes a copy, unless the lease is lost by now: it ran out, or the menu was invalidated while it was loaded.
func (c *Copies) store(ctx context.Context, branch int64, token string, got catalog.Content) {
	holder, _, _ := c.db.Do(ctx, "GET", keyspace.MenuActiveLock(branch)).Text()
	text, err := json.Marshal(got)
	if err != nil || holder != token {
		return
	}
	ttl := life + mathrand.N(jitter) //nolint:gosec // nothing to guess
	_ = c.db.Do(ctx, "SET", keyspace.MenuActive(branch), c.seal(branch, string(text)), "PX", millis(ttl)).Err()
}

// The seal is the first member of the JSON object that a copy is.
const (
	sealOpen  = `{"seal":"`
	sealClose = `",`
)

// seal writes the seal into the text of a copy.
func (c *Copies) seal(branch int64, body string) string {
	return sealOpen + c.db.Seal(keyspace.MenuActive(branch), body) + sealClose + body[1:]
}

// open returns the text of a copy as it was before seal; ok is false when this installation has not written it.
func (c *Copies) open(branch int64, text string) (body string, ok bool) {
	rest, ok := strings.CutPrefix(text, sealOpen)
	if !ok || len(rest) < redisdb.SealChars {
		return "", false
	}
	body, ok = strings.CutPrefix(rest[redisdb.SealChars:], sealClose)
	body = "{" + body
	return body, ok && c.db.Sealed(rest[:redisdb.SealChars], keyspace.MenuActive(branch), body)
}

// await looks for what another process is about to store.
func (c *Copies) await(ctx context.Context, branch, revision int64) (catalog.Content, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(glance)
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

// Drop forgets the copy of a branch and takes the lease from whoever is filling. What is lost here is caught by the
// revision.
func (c *Copies) Drop(ctx context.Context, branch int64) {
	_, _ = c.db.DoMulti(ctx,
		redisdb.Command("DEL", keyspace.MenuActiveLock(branch)), redisdb.Command("DEL", keyspace.MenuActive(branch)))
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
