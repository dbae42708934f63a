package documentredis

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"comanda/internal/document"
	"comanda/internal/keyspace"
)

// LastVerified implements document.VerifiedStore. A value that another program has written counts as missing.
func (s *Store) LastVerified(ctx context.Context) (v document.Verified, ok bool, err error) {
	text, ok, err := s.db.Do(ctx, "GET", keyspace.DocumentsVerified()).Text()
	if err != nil || !ok {
		return v, false, err
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return document.Verified{}, false, nil //nolint:nilerr // the next comparison writes it again
	}
	return v, true, nil
}

// SaveVerified implements document.VerifiedStore.
func (s *Store) SaveVerified(ctx context.Context, v document.Verified) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "SET", keyspace.DocumentsVerified(), string(text), "PX", millis(keyspace.VerifiedLife)).Err()
}

// ClaimVerification implements document.VerifiedStore.
func (s *Store) ClaimVerification(ctx context.Context, claimLife time.Duration) (ok bool, err error) {
	_, ok, err = s.db.Do(ctx, "SET", keyspace.DocumentsVerifying(), "1", "NX", "PX", millis(claimLife)).Text()
	return ok, err
}

// ReleaseVerification implements document.VerifiedStore.
func (s *Store) ReleaseVerification(ctx context.Context) error {
	return s.db.Do(ctx, "DEL", keyspace.DocumentsVerifying()).Err()
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Paced returns a store whose walks call pace after each page.
func (s *Store) Paced(pace func(ctx context.Context) error) document.Mirror {
	return pacedMirror{s, pace}
}

type pacedMirror struct {
	*Store

	pace func(ctx context.Context) error
}

// Walk implements document.Walker.
func (m pacedMirror) Walk(
	ctx context.Context, seen *document.KeySet, found func(context.Context, []document.Difference) error,
) error {
	return m.walk(ctx, seen, found, m.pace)
}
