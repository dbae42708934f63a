package documentredis

import (
	"context"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Server implements document.Marks.
func (s *Store) Server(ctx context.Context) (string, error) { return s.db.Identity(ctx) }

var markKeys = func() (keys [keyspace.EpochMarks]keyspace.Key) {
	for i := range keys {
		keys[i] = keyspace.EpochMark(i)
	}
	return keys
}()

// Marks implements document.Marks.
func (s *Store) Marks(ctx context.Context) ([]document.Mark, error) {
	texts, err := s.texts(ctx, markKeys[:])
	if err != nil {
		return nil, err
	}
	marks := make([]document.Mark, len(texts))
	for i, text := range texts {
		marks[i].Epoch, marks[i].Building, _ = strings.Cut(text, "|")
	}
	return marks, nil
}

// MarkBuilding implements document.Marks.
func (s *Store) MarkBuilding(ctx context.Context, building string) error {
	marks, err := s.Marks(ctx)
	if err != nil {
		return err
	}
	cmds := make([]redisdb.Cmd, len(marks))
	for i, m := range marks {
		cmds[i] = redisdb.Command("SET", markKeys[i], m.Epoch+"|"+building)
	}
	_, err = s.send(ctx, cmds)
	return err
}

// MarkBuilt implements document.Marks.
func (s *Store) MarkBuilt(ctx context.Context, building string) (ok bool, err error) {
	cmds := make([]redisdb.Cmd, len(markKeys))
	for i, k := range markKeys {
		cmds[i] = markScript.Command([]keyspace.Key{k}, building)
	}
	replies, err := s.send(ctx, cmds)
	if err != nil {
		return false, err
	}
	for _, r := range replies {
		done, err := r.Int()
		if err != nil || done == 0 {
			return false, err
		}
	}
	return true, nil
}

// marked tells whether the marks that are likely to lie on the nodes of keys show an epoch. A node owns ranges of slots,
// so that the mark nearest to a key's slot is on the key's node, but for the keys at the ends of a range; on a single
// server any mark will do.
func (s *Store) marked(ctx context.Context, epoch string, keys []keyspace.Key) (bool, error) {
	marks := make([]keyspace.Key, len(keys))
	for i, k := range keys {
		marks[i] = markKeys[s.nearest(k)]
	}
	texts, err := s.texts(ctx, marks)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		if shown, _, _ := strings.Cut(text, "|"); shown != epoch || epoch == "" {
			return false, nil
		}
	}
	return true, nil
}

func (s *Store) nearest(k keyspace.Key) int {
	slot, best := int(s.db.Slot(k)), 0
	for i, at := range s.markSlots {
		if abs(at-slot) < abs(s.markSlots[best]-slot) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
