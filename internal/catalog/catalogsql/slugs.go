package catalogsql

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

// assignSlug sets and returns the slug of a branch for its current name. The caller holds the lock of the branch's
// row. A branch keeps all its earlier slugs, so the first free slug of the name is used: quan-hoa, then quan-hoa-2. A
// branch that gets an earlier name again gets its earlier slug again.
func assignSlug(ctx context.Context, tx sqldb.Tx, b catalog.Branch, now time.Time) (string, error) {
	for n := 1; ; n++ {
		slug := catalog.SlugOf(b.Name, n)
		claimed, err := tx.Exec(ctx, stmt("slug_claim"), slug, b.ID, now.UnixMilli())
		if err != nil {
			return "", err
		}
		if claimed == 0 {
			owner, err := sqldb.Scalar[int64](ctx, tx, stmt("slug_owner"), slug)
			if err != nil {
				return "", err
			}
			if owner != b.ID {
				continue
			}
		}
		tx.Queue(stmt("slug_retire"), b.ID)
		tx.QueueExactly(1, stmt("slug_use"), slug)
		return slug, nil
	}
}

// AssignSlugs assigns slugs to the branches that have none: those from before slugs were stored, and those that a
// process of an earlier release has created meanwhile.
func (s *Store) AssignSlugs(ctx context.Context, now time.Time) error {
	all, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("slug_missing"))
	if err != nil {
		return err
	}
	for _, id := range all {
		err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			if _, err := sqldb.Scalar[int64](ctx, tx, stmt("branch_lock"), id); err != nil {
				return err
			}
			// The branch is read under the lock: another process may have assigned the slug, or renamed the branch.
			b, found, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
			if err == nil && found && b.Slug == "" {
				_, err = assignSlug(ctx, tx, b, now)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BranchBySlug returns the id of the branch that has a slug, or had it before it was renamed; 0 for none.
func (s *Store) BranchBySlug(ctx context.Context, slug string) (int64, error) {
	return sqldb.Scalar[int64](ctx, s.db, stmt("slug_owner"), slug)
}
