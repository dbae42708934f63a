// Package accountredis caches live sessions in Redis, so that an access token which is new to a process costs no SQL
// query.
//
// All data is written to SQL first. Lost data is written again when it is next needed. A session is sealed with a key
// that is not in Redis, so that only this installation can create one. An outdated session grants nothing: a change of
// an account's role or branches ends its sessions, and every process reads revocations from SQL for longer than an
// access token lives.
package accountredis

import (
	"context"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// SessionCache is account.SessionCache in Redis.
type SessionCache struct{ db *redisdb.DB }

// New returns a cache on a connection.
func New(db *redisdb.DB) *SessionCache { return &SessionCache{db} }

// sessionFields are the sealed fields of a session, in the order of sealing.
var sessionFields = []string{"userId", "roleId", "role", "branches", "loginAt", "expiresAt", "address"}

const sealField = "seal"

// Put caches a live session, and the hash of its refresh token unless that is empty.
func (c *SessionCache) Put(ctx context.Context, s account.ActiveSession, tokenHash string) error {
	key := keyspace.Session(s.Session)
	values := []string{
		decimal(s.UserID), decimal(s.RoleID), s.Role, join(s.Branches), decimal(s.StartedAt.UnixMilli()),
		decimal(s.ExpiresAt.UnixMilli()), s.Address,
	}
	set := []string{sealField, c.db.Seal(key, values...)}
	for i, name := range sessionFields {
		set = append(set, name, values[i])
	}
	// All commands travel in one round trip. If the expiry fails after the write, the next Get sets it.
	commands := []redisdb.Cmd{
		redisdb.Command("HSET", key, set...),
		redisdb.Command("PEXPIRE", key, millis(keyspace.SessionLife)),
	}
	if tokenHash != "" {
		commands = append(commands,
			redisdb.Command("SET", keyspace.RefreshToken(s.Session), tokenHash, "PX", millis(keyspace.RefreshLife)))
	}
	_, err := c.db.DoMulti(ctx, commands...)
	return err
}

// Get returns a session and extends its TTL, and reports whether an access token was blocked.
func (c *SessionCache) Get(
	ctx context.Context, session, token string,
) (s account.ActiveSession, found, barred bool, err error) {
	key := keyspace.Session(session)
	replies, err := c.db.DoMulti(ctx,
		redisdb.Command("HGETALL", key),
		redisdb.Command("PEXPIRE", key, millis(keyspace.SessionLife)),
		// The revocation is read in the same round trip as the session, because every new token needs both.
		redisdb.Command("EXISTS", keyspace.RevokedToken(token)))
	if err != nil {
		return s, false, false, err
	}
	fields, err := replies[0].Map()
	if err != nil {
		return s, false, false, err
	}
	bars, err := replies[2].Int()
	if c.sealed(key, fields) {
		s, found = parse(session, fields)
	}
	return s, found, bars == 1, err
}

// sealed reports whether the fields are unchanged since this installation wrote them under this key.
func (c *SessionCache) sealed(key keyspace.Key, fields map[string]string) bool {
	values := make([]string, len(sessionFields))
	for i, name := range sessionFields {
		values[i] = fields[name]
	}
	return c.db.Sealed(fields[sealField], key, values...)
}

// parse reads a session. An incomplete session counts as a miss, so that SQL is read.
func parse(session string, f map[string]string) (s account.ActiveSession, ok bool) {
	numbers := map[string]int64{"userId": 0, "roleId": 0, "loginAt": 0, "expiresAt": 0}
	// A session written by another release may lack a field, or have it in another form.
	for name := range numbers {
		n, err := strconv.ParseInt(f[name], 10, 64)
		if err != nil {
			return s, false
		}
		numbers[name] = n
	}
	branches, ok := split(f["branches"])
	return account.ActiveSession{
		Session: session, UserID: numbers["userId"], RoleID: numbers["roleId"], Role: f["role"], Branches: branches,
		StartedAt: time.UnixMilli(numbers["loginAt"]).UTC(), ExpiresAt: time.UnixMilli(numbers["expiresAt"]).UTC(),
		Address: f["address"],
	}, ok && f["role"] != ""
}

// Delete removes sessions and the hashes of their refresh tokens.
func (c *SessionCache) Delete(ctx context.Context, sessions []string) error {
	commands := make([]redisdb.Cmd, 0, 2*len(sessions))
	for _, id := range sessions {
		commands = append(commands,
			redisdb.Command("DEL", keyspace.Session(id)), redisdb.Command("DEL", keyspace.RefreshToken(id)))
	}
	_, err := c.db.DoMulti(ctx, commands...)
	return err
}

// BlockToken refuses an access token for the rest of its lifetime. An expired token is not stored.
func (c *SessionCache) BlockToken(ctx context.Context, token string, rest time.Duration) error {
	// Redis refuses an expiry of zero.
	if rest < time.Millisecond {
		return nil
	}
	return c.db.Do(ctx, "SET", keyspace.RevokedToken(token), "1", "PX", millis(rest)).Err()
}

// PutCode records that a code was sent.
func (c *SessionCache) PutCode(ctx context.Context, p account.Purpose, user int64, sent time.Time) error {
	key := codeKey(p, user)
	_, err := c.db.DoMulti(ctx,
		redisdb.Command("HSET", key, "sentAt", decimal(sent.UnixMilli())),
		redisdb.Command("PEXPIRE", key, millis(keyspace.CodeLife)))
	return err
}

// DeleteCode records that a code was used.
func (c *SessionCache) DeleteCode(ctx context.Context, p account.Purpose, user int64) error {
	return c.db.Do(ctx, "DEL", codeKey(p, user)).Err()
}

func codeKey(p account.Purpose, user int64) keyspace.Key {
	return keyspace.OneTimeCode(strings.ToLower(string(p)), user)
}

func join(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = decimal(id)
	}
	return strings.Join(texts, ",")
}

func split(s string) (ids []int64, ok bool) {
	if s == "" {
		return nil, true
	}
	for part := range strings.SplitSeq(s, ",") {
		id, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func millis(d time.Duration) string { return decimal(d.Milliseconds()) }
