package analyticsredis

import (
	"context"
	"slices"
	"time"

	"comanda/internal/analytics"
	"comanda/internal/fault"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

var (
	markScript     = redisdb.MustScript(files, "lua/mark_active.lua")
	restoreScript  = redisdb.MustScript(files, "lua/restore_day.lua")
	countScript    = redisdb.MustScript(files, "lua/count_active.lua")
	lastSeenScript = redisdb.MustScript(files, "lua/save_last_seen.lua")
)

// chunk is the maximum number of members or visitors in one script call, so that none holds up Redis.
const chunk = 1000

// LoginStore implements analytics.ActivityCache. It is safe for concurrent use.
type LoginStore struct{ db *redisdb.DB }

// NewLoginStore returns a LoginStore on a connection.
func NewLoginStore(db *redisdb.DB) *LoginStore { return &LoginStore{db} }

// MarkActive implements analytics.LoginDays.
func (s *LoginStore) MarkActive(ctx context.Context, date string, users []int64) error {
	for part := range slices.Chunk(users, chunk) {
		args := []string{millis(keyspace.LoginDayLife), "1"}
		members, fit := analytics.Fitting(part)
		if !fit {
			args[1] = "0"
		}
		for _, id := range members {
			args = append(args, decimal(id))
		}
		if err := s.db.Run(ctx, markScript, []keyspace.Key{keyspace.LoginDay(date)}, args).Err(); err != nil {
			return err
		}
	}
	return nil
}

// RestoreDay implements analytics.LoginDays.
func (s *LoginStore) RestoreDay(ctx context.Context, date string, users []int64) error {
	members, complete := analytics.Fitting(users)
	bits := make([]byte, slices.Max(append(members, 0))/8+1)
	if complete {
		members = append(members, 0)
	}
	for _, id := range members {
		bits[id/8] |= 0x80 >> (id % 8) // Redis counts bits from the highest one of a byte
	}
	keys := []keyspace.Key{keyspace.LoginDay(date), keyspace.LoginUnion(1)}
	return s.db.Run(ctx, restoreScript, keys, []string{millis(keyspace.LoginDayLife), string(bits)}).Err()
}

// CountActive implements analytics.LoginDays.
func (s *LoginStore) CountActive(
	ctx context.Context, dates []string,
) (m analytics.ActiveMembers, incomplete []string, err error) {
	keys := []keyspace.Key{keyspace.LoginUnion(1), keyspace.LoginUnion(2)}
	for _, date := range dates {
		keys = append(keys, keyspace.LoginDay(date))
	}
	got, err := s.db.Run(ctx, countScript, keys, nil).Ints()
	switch {
	case err != nil:
		return m, nil, err
	case len(got) == 5 && got[0] == 1:
		return analytics.ActiveMembers{Daily: got[1], Weekly: got[2], Monthly: got[3], Returning: got[4]}, nil, nil
	case len(got) < 2 || got[0] != 0:
		return m, nil, fault.Newf(fault.Internal, "redis_reply", "The script that counts members returned %v.", got)
	}
	for _, i := range got[1:] {
		incomplete = append(incomplete, dates[i-1])
	}
	return m, incomplete, nil
}

// onlineOf returns the key of the visitors of a branch, or of the members.
func onlineOf(branch int64) keyspace.Key {
	if branch == analytics.MembersBranch {
		return keyspace.OnlineMembers()
	}
	return keyspace.OnlineGuests(branch)
}

// SaveLastSeen implements analytics.Presence.
func (s *LoginStore) SaveLastSeen(ctx context.Context, branch int64, all []analytics.VisitorSeen) error {
	for part := range slices.Chunk(all, chunk) {
		newest := slices.MaxFunc(part, func(x, y analytics.VisitorSeen) int { return x.At.Compare(y.At) }).At
		args := []string{millis(keyspace.OnlineLife), decimal(newest.Add(-analytics.OnlineWindow).UnixMilli())}
		for _, v := range part {
			args = append(args, decimal(v.At.UnixMilli()), v.Visitor)
		}
		if err := s.db.Run(ctx, lastSeenScript, []keyspace.Key{onlineOf(branch)}, args).Err(); err != nil {
			return err
		}
	}
	return nil
}

// CountOnline implements analytics.Presence.
func (s *LoginStore) CountOnline(ctx context.Context, branch int64, since time.Time) (int64, error) {
	return s.db.Do(ctx, "ZCOUNT", onlineOf(branch), decimal(since.UnixMilli()), "+inf").Int()
}
