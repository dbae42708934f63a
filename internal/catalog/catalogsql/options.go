package catalogsql

import (
	"context"
	"errors"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// Locks are taken in this order: the branches whose versions have a group, then the group, then its options. Edits of
// drafts lock their branch first and then share the groups and options that they name.

// OptionGroups returns the groups that are not retired, by id, with their options.
func (s *Store) OptionGroups(ctx context.Context) ([]catalog.LibraryGroup, error) {
	return selectLibrary(ctx, s.db)
}

func selectLibrary(ctx context.Context, c sqldb.Reader) ([]catalog.LibraryGroup, error) {
	groups, err := sqldb.Collect(ctx, c, scanGroup, stmt("group_list"))
	if err != nil || len(groups) == 0 {
		return groups, err
	}
	options, err := selectChoices(ctx, c, 0)
	byGroup := seq.Group(options, func(o catalog.LibraryOption) int64 { return o.GroupID })
	for i := range groups {
		groups[i].Options = byGroup[groups[i].ID]
	}
	return groups, err
}

func scanGroup(r sqldb.Rows) (g catalog.LibraryGroup, err error) {
	var retired *int64
	err = r.Scan(&g.ID, &g.Kind, sqldb.JSON(&g.Names), &g.Note, &retired, sqldb.Time(&g.UpdatedAt), &g.UsedBy)
	g.Retired = retired != nil
	return g, err
}

// selectChoices returns the options of a group, or of all groups in use for 0.
func selectChoices(ctx context.Context, c sqldb.Reader, group int64) ([]catalog.LibraryOption, error) {
	return sqldb.Collect(ctx, c, func(r sqldb.Rows) (o catalog.LibraryOption, err error) {
		var retired *int64
		var allergens, diets string
		err = r.Scan(&o.ID, &o.GroupID, sqldb.JSON(&o.Names), &o.ShortName, &o.DishID, &o.Sort, &o.TaxClass, &allergens, &diets,
			&retired)
		o.Declaration = catalog.DecodeDeclaration(allergens, diets)
		o.Retired = retired != nil
		return o, err
	}, stmt("choice_list"), group)
}

// lockGroup locks the branches that have a group on a version, then the group, and returns them. A retired group is
// reported as missing.
func lockGroup(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, id int64,
) (g catalog.LibraryGroup, branches []int64, err error) {
	if branches, err = lockBranches(ctx, tx, by, stmt("branch_lock_group"), id); err != nil {
		return g, nil, err
	}
	if g, err = sqldb.Get(ctx, tx, catalog.ErrOptionGroup, scanGroup, stmt("group_lock"), id); err != nil {
		return g, nil, err
	}
	if g.Retired {
		return g, nil, catalog.ErrOptionGroup
	}
	g.Options, err = selectChoices(ctx, tx, id)
	return g, branches, err
}

// groupNote and optionNote are the audit log's records of the library.
type groupNote struct {
	Kind  catalog.GroupKind `json:"kind"`
	Names catalog.Texts     `json:"names"`
	Note  string            `json:"note,omitempty"`
}

func groupNoteOf(g catalog.LibraryGroup) groupNote { return groupNote{g.Kind, g.Names, g.Note} }

type optionNote struct {
	Group     int64         `json:"optionGroup"`
	Names     catalog.Texts `json:"names"`
	ShortName string        `json:"shortName,omitempty"`
	Dish      int64         `json:"dish,omitempty"`
	Sort      int64         `json:"sort"`
	TaxClass  string        `json:"taxClass,omitempty"`
	catalog.Declaration
}

func optionNoteOf(o catalog.LibraryOption) optionNote {
	return optionNote{o.GroupID, o.Names, o.ShortName, o.DishID, o.Sort, o.TaxClass, o.Declaration}
}

// PutOptionGroup changes an option group, or creates one for id 0.
func (s *Store) PutOptionGroup(
	ctx context.Context, by authz.Actor, id int64, now time.Time,
	change func(catalog.LibraryGroup) (catalog.LibraryGroup, error),
) (g catalog.LibraryGroup, branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var current catalog.LibraryGroup
		if id == 0 {
			err = checkLimit(ctx, tx, stmt("group_count"), catalog.MaxGroups, catalog.ErrTooManyGroups)
		} else {
			current, branches, err = lockGroup(ctx, tx, by, id)
		}
		if err != nil {
			return err
		}
		if g, err = change(current); err != nil {
			return err
		}
		g.UpdatedAt = now
		if id == 0 {
			g.ID, err = sqldb.Scalar[int64](ctx, tx, stmt("group_insert"), string(g.Kind), jsonText(g.Names), g.Note, now.UnixMilli())
		} else {
			tx.QueueExactly(1, stmt("group_update"), id, jsonText(g.Names), g.Note, now.UnixMilli())
		}
		if err != nil {
			return err
		}
		touchBranches(tx, branches)
		entry := auditEntry(by, now, audit.ActionOptionGroupEdited, "optionGroup", g.ID, 0).WithAfter(groupNoteOf(g))
		if id != 0 {
			entry = entry.WithBefore(groupNoteOf(current))
		}
		return auditsql.Record(ctx, tx, entry)
	})
	return g, branches, err
}

// RetireOptionGroup retires a group and its options. Their rows stay, because orders and closed versions refer to them.
func (s *Store) RetireOptionGroup(ctx context.Context, by authz.Actor, id int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		g, _, err := lockGroup(ctx, tx, by, id)
		if err != nil {
			return err
		}
		n, err := sqldb.Scalar[int64](ctx, tx, stmt("group_used"), id)
		if err == nil && n > 0 {
			err = catalog.ErrOptionGroupInUse
		}
		if err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("group_retire"), id, now.UnixMilli())
		tx.Queue(stmt("choice_retire_group"), id, now.UnixMilli())
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionOptionGroupRetired, "optionGroup", id, 0).WithBefore(groupNoteOf(g)))
	})
}

// lockOption locks the group of an option, and returns both.
func lockOption(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, id int64,
) (g catalog.LibraryGroup, o catalog.LibraryOption, branches []int64, err error) {
	group, found, err := sqldb.One(ctx, tx, sqldb.Value[int64], stmt("choice_group"), id)
	if err == nil && !found {
		err = catalog.ErrOptionMissing
	}
	if err != nil {
		return g, o, nil, err
	}
	g, branches, err = lockGroup(ctx, tx, by, group)
	if errors.Is(err, catalog.ErrOptionGroup) {
		err = catalog.ErrOptionMissing
	}
	if err != nil {
		return g, o, nil, err
	}
	return g, g.Options[slices.IndexFunc(g.Options, func(o catalog.LibraryOption) bool { return o.ID == id })], branches, nil
}

// PutOption changes an option, or adds one to a group for id 0.
func (s *Store) PutOption(
	ctx context.Context, by authz.Actor, group, id int64, now time.Time,
	change func(catalog.LibraryGroup, catalog.LibraryOption) (catalog.LibraryOption, error),
) (o catalog.LibraryOption, branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var g catalog.LibraryGroup
		var current catalog.LibraryOption
		if id == 0 {
			g, branches, err = lockGroup(ctx, tx, by, group)
			current.GroupID, current.Sort = group, int64(len(g.Options))
		} else {
			g, current, branches, err = lockOption(ctx, tx, by, id)
		}
		if err != nil {
			return err
		}
		if id == 0 && len(g.Options) >= catalog.MaxChoices {
			return catalog.ErrTooManyOptions
		}
		if o, err = change(g, current); err != nil {
			return err
		}
		if o.TaxClass != current.TaxClass && o.TaxClass != "" {
			if _, err := taxClassOf(ctx, tx, o.TaxClass); err != nil {
				return err
			}
		}
		if o.ID, err = writeOption(ctx, tx, o); err != nil {
			return err
		}
		if o.TaxClass != current.TaxClass {
			if err := checkTaxedBranches(ctx, tx, branches); err != nil {
				return err
			}
		}
		tx.Queue(stmt("group_touch"), g.ID, now.UnixMilli())
		touchBranches(tx, branches)
		entry := auditEntry(by, now, audit.ActionOptionEdited, "option", o.ID, 0).WithAfter(optionNoteOf(o))
		if id != 0 {
			entry = entry.WithBefore(optionNoteOf(current))
		}
		return auditsql.Record(ctx, tx, entry)
	})
	return o, branches, err
}

// writeOption inserts or updates an option. A new one may stand for a dish that exists and is not retired.
func writeOption(ctx context.Context, tx sqldb.Tx, o catalog.LibraryOption) (int64, error) {
	allergens, diets := o.Encode()
	if o.ID != 0 {
		tx.QueueExactly(1, stmt("choice_update"), o.ID, jsonText(o.Names), o.ShortName, o.Sort, o.TaxClass, allergens,
			diets)
		return o.ID, nil
	}
	var dish *int64
	if o.DishID != 0 {
		d, err := selectDish(ctx, tx, o.DishID)
		if err == nil && d.Retired {
			err = catalog.ErrDishRetired
		}
		if err != nil {
			return 0, err
		}
		dish = &o.DishID
	}
	return sqldb.Scalar[int64](ctx, tx, stmt("choice_insert"), o.GroupID, jsonText(o.Names), o.ShortName, dish, o.Sort,
		o.TaxClass, allergens, diets)
}

// RetireOption retires an option.
func (s *Store) RetireOption(ctx context.Context, by authz.Actor, id int64, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		g, o, _, err := lockOption(ctx, tx, by, id)
		if err != nil || o.Retired {
			return err
		}
		n, err := sqldb.Scalar[int64](ctx, tx, stmt("choice_used"), id)
		if err == nil && n > 0 {
			err = catalog.ErrOptionInUse
		}
		if err != nil {
			return err
		}
		tx.QueueExactly(1, stmt("choice_retire"), id, now.UnixMilli())
		tx.Queue(stmt("group_touch"), g.ID, now.UnixMilli())
		return auditsql.Record(ctx, tx,
			auditEntry(by, now, audit.ActionOptionRetired, "option", id, 0).WithBefore(optionNoteOf(o)))
	})
}
