// Package identityredis remembers in Redis who is logged in, so that an access token which a process has not seen yet
// costs it no question to SQL.
//
// Everything here was written to SQL before. When it is lost it is written again as it is next needed. A session is sealed
// with a key that is not in Redis, so that only this installation can make one. An old copy of a session grants nothing:
// whatever changes the role or the branches of an account ends its sessions, and every process reads revocations from SQL
// for longer than an access token lives.
package identityredis

import (
	"context"
	"strconv"
	"strings"
	"time"

	"comanda/internal/identity"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Memory is identity.Memory in Redis.
type Memory struct{ db *redisdb.DB }

// New makes a memory on a connection.
func New(db *redisdb.DB) *Memory { return &Memory{db} }

// sessionFields are the fields of a session, in the order in which they are sealed.
var sessionFields = []string{"userId", "roleId", "role", "branches", "loginAt", "expiresAt", "address"}

const sealField = "seal"

// Keep remembers a living session, and the hash of its refresh token unless that is empty.
func (m *Memory) Keep(ctx context.Context, s identity.Standing, tokenHash string) error {
	key := keyspace.Session(s.Session)
	values := []string{
		decimal(s.UserID), decimal(s.RoleID), s.Role, join(s.Branches), decimal(s.BegunAt.UnixMilli()),
		decimal(s.ExpiresAt.UnixMilli()), s.Address,
	}
	set := []string{sealField, m.db.Seal(key, values...)}
	for i, name := range sessionFields {
		set = append(set, name, values[i])
	}
	commands := []redisdb.Cmd{
		redisdb.Command("HSET", key, set...),
		redisdb.Command("PEXPIRE", key, millis(keyspace.SessionLife)),
	}
	if tokenHash != "" {
		commands = append(commands,
			redisdb.Command("SET", keyspace.RefreshToken(s.Session), tokenHash, "PX", millis(keyspace.RefreshLife)))
	}
	_, err := m.db.DoMulti(ctx, commands...)
	return err
}

// Find gives a session and lets it live on, and tells whether an access token was barred.
func (m *Memory) Find(
	ctx context.Context, session, token string,
) (s identity.Standing, found, barred bool, err error) {
	key := keyspace.Session(session)
	replies, err := m.db.DoMulti(ctx,
		redisdb.Command("HGETALL", key),
		redisdb.Command("PEXPIRE", key, millis(keyspace.SessionLife)),
		redisdb.Command("EXISTS", keyspace.BarredToken(token)))
	if err != nil {
		return s, false, false, err
	}
	fields, err := replies[0].Map()
	if err != nil {
		return s, false, false, err
	}
	bars, err := replies[2].Int()
	if m.sealed(key, fields) {
		s, found = parse(session, fields)
	}
	return s, found, bars == 1, err
}

// sealed reports whether a session was written by this installation, as it is and for this key.
func (m *Memory) sealed(key keyspace.Key, fields map[string]string) bool {
	values := make([]string, len(sessionFields))
	for i, name := range sessionFields {
		values[i] = fields[name]
	}
	return m.db.Sealed(fields[sealField], key, values...)
}

// parse reads a session. What is not whole is no session: SQL is asked.
func parse(session string, f map[string]string) (s identity.Standing, ok bool) {
	numbers := map[string]int64{"userId": 0, "roleId": 0, "loginAt": 0, "expiresAt": 0}
	for name := range numbers {
		n, err := strconv.ParseInt(f[name], 10, 64)
		if err != nil {
			return s, false
		}
		numbers[name] = n
	}
	branches, ok := split(f["branches"])
	return identity.Standing{
		Session: session, UserID: numbers["userId"], RoleID: numbers["roleId"], Role: f["role"], Branches: branches,
		BegunAt: time.UnixMilli(numbers["loginAt"]).UTC(), ExpiresAt: time.UnixMilli(numbers["expiresAt"]).UTC(),
		Address: f["address"],
	}, ok && f["role"] != ""
}

// Drop forgets sessions.
func (m *Memory) Drop(ctx context.Context, sessions []string) error {
	commands := make([]redisdb.Cmd, 0, 2*len(sessions))
	for _, id := range sessions {
		commands = append(commands,
			redisdb.Command("DEL", keyspace.Session(id)), redisdb.Command("DEL", keyspace.RefreshToken(id)))
	}
	_, err := m.db.DoMulti(ctx, commands...)
	return err
}

// Bar remembers that an access token is not good any more. One whose life is over needs nothing.
func (m *Memory) Bar(ctx context.Context, token string, rest time.Duration) error {
	if rest < time.Millisecond {
		return nil
	}
	return m.db.Do(ctx, "SET", keyspace.BarredToken(token), "1", "PX", millis(rest)).Err()
}

// KeepCode notes that a code was sent.
func (m *Memory) KeepCode(ctx context.Context, p identity.Purpose, user int64, sent time.Time) error {
	key := codeKey(p, user)
	_, err := m.db.DoMulti(ctx,
		redisdb.Command("HSET", key, "sentAt", decimal(sent.UnixMilli())),
		redisdb.Command("PEXPIRE", key, millis(keyspace.CodeLife)))
	return err
}

// DropCode notes that a code was used.
func (m *Memory) DropCode(ctx context.Context, p identity.Purpose, user int64) error {
	return m.db.Do(ctx, "DEL", codeKey(p, user)).Err()
}

func codeKey(p identity.Purpose, user int64) keyspace.Key {
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
