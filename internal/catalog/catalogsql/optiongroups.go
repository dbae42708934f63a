package catalogsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// selectGroups returns the groups of an item of a version, or of all its items for 0, by item.
func selectGroups(ctx context.Context, c sqldb.Reader, version, item int64) (map[int64][]catalog.VersionGroup, error) {
	all := map[int64][]catalog.VersionGroup{}
	err := sqldb.Each(ctx, c, func(r sqldb.Rows) error {
		var item int64
		var g catalog.VersionGroup
		err := r.Scan(&item, &g.ParentOptionID, &g.GroupID, &g.Kind, sqldb.JSON(&g.Names), &g.Sort, &g.Min, &g.Max, &g.Free,
			&g.MaxEach, sqldb.Bool(&g.Credit), sqldb.Bool(&g.DefaultsCharge))
		all[item] = append(all[item], g)
		return err
	}, stmt("version_groups"), version, item)
	if err != nil || len(all) == 0 { // most menus have no options
		return all, err
	}
	return all, sqldb.Each(ctx, c, func(r sqldb.Rows) error {
		var item, parent, group int64
		var o catalog.VersionOption
		var allergens, diets string
		err := r.Scan(&item, &parent, &group, &o.OptionID, sqldb.JSON(&o.Names), &o.ShortName, &o.DishID, &o.Component,
			&o.TaxClass, &allergens, &diets, &o.Price, &o.Sort, sqldb.Bool(&o.Default), sqldb.Bool(&o.Active))
		o.Declaration = catalog.DecodeDeclaration(allergens, diets)
		if i := place(all[item], parent, group); i >= 0 {
			all[item][i].Options = append(all[item][i].Options, o)
		}
		return err
	}, stmt("version_choices"), version, item)
}

// place returns the index of a group of an item, or -1.
func place(groups []catalog.VersionGroup, parent, group int64) int {
	return slices.IndexFunc(groups, func(g catalog.VersionGroup) bool {
		return g.ParentOptionID == parent && g.GroupID == group
	})
}

// SetGroups replaces the groups of an item in a draft.
func (s *Store) SetGroups(
	ctx context.Context, by authz.Actor, version, item int64, groups []catalog.VersionGroup, now time.Time,
) (line catalog.Line, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		e, err := editGroups(ctx, tx, by, version, groups, now)
		if err != nil {
			return err
		}
		line, err = e.set(ctx, item, 0, groups)
		return err
	})
	return line, err
}

// AttachGroup sets one group of items in a draft. Items that have the group already keep its place, others get it last.
func (s *Store) AttachGroup(
	ctx context.Context, by authz.Actor, version int64, items []int64, g catalog.VersionGroup, now time.Time,
) error {
	groups := []catalog.VersionGroup{g}
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		e, err := editGroups(ctx, tx, by, version, groups, now)
		if err != nil {
			return err
		}
		for _, item := range items {
			if _, err := e.set(ctx, item, g.GroupID, groups); err != nil {
				return err
			}
		}
		return nil
	})
}

// groupEdit is a change of the groups of a draft, in its transaction.
type groupEdit struct {
	tx      sqldb.Tx
	by      authz.Actor
	version int64
	branch  int64
	now     time.Time
	// components has the menu's items of the dishes that options stand for, by option.
	components map[int64]int64
}

// editGroups locks the branch of a draft and checks the groups against the library. It sets the kinds of the groups.
func editGroups(
	ctx context.Context, tx sqldb.Tx, by authz.Actor, version int64, groups []catalog.VersionGroup, now time.Time,
) (groupEdit, error) {
	e := groupEdit{tx: tx, by: by, version: version, now: now, components: map[int64]int64{}}
	var err error
	if e.branch, err = lockBranch(ctx, tx, by, stmt("branch_lock_version"), version, catalog.ErrVersion); err != nil {
		return e, err
	}
	if err := requireDraft(ctx, tx, version); err != nil {
		return e, err
	}
	return e, e.check(ctx, groups)
}

// libraryChoice is an option with its group.
type libraryChoice struct {
	id, group, dish, retired int64
	kind                     catalog.GroupKind
}

// check refuses groups and options that the library does not have or has retired, and options of another group.
func (e groupEdit) check(ctx context.Context, groups []catalog.VersionGroup) error {
	type libraryGroup struct {
		id, retired int64
		kind        catalog.GroupKind
	}
	named, chosen := map[int64]struct{}{}, map[int64]struct{}{}
	for _, g := range groups {
		named[g.GroupID] = struct{}{}
		if g.ParentOptionID != 0 {
			chosen[g.ParentOptionID] = struct{}{}
		}
		for _, o := range g.Options {
			chosen[o.OptionID] = struct{}{}
		}
	}
	known, err := sqldb.Collect(ctx, e.tx, sqldb.Row(func(g *libraryGroup) []any {
		return []any{&g.id, &g.kind, &g.retired}
	}), stmt("group_share"), sqldb.IDs(slices.Sorted(maps.Keys(named))))
	if err != nil {
		return err
	}
	options, err := sqldb.Collect(ctx, e.tx, sqldb.Row(func(c *libraryChoice) []any {
		return []any{&c.id, &c.group, &c.kind, &c.dish, &c.retired}
	}), stmt("choice_share"), sqldb.IDs(slices.Sorted(maps.Keys(chosen))))
	if err != nil {
		return err
	}
	kinds := seq.Index(known, func(g libraryGroup) int64 { return g.id })
	byID := seq.Index(options, func(c libraryChoice) int64 { return c.id })
	for i := range groups {
		g := &groups[i]
		k, ok := kinds[g.GroupID]
		if !ok || k.retired != 0 {
			return catalog.ErrOptionGroup.With("groupId", decimal(g.GroupID))
		}
		if g.Kind = k.kind; g.ParentOptionID != 0 && !hasOption(groups, g.ParentOptionID) {
			return catalog.ErrOption.With("optionId", decimal(g.ParentOptionID))
		}
		for _, o := range g.Options {
			if err := e.checkOption(ctx, *g, o, byID[o.OptionID]); err != nil {
				return err
			}
		}
	}
	return catalog.CheckKinds(groups)
}

func hasOption(groups []catalog.VersionGroup, option int64) bool {
	return slices.ContainsFunc(groups, func(g catalog.VersionGroup) bool {
		return slices.ContainsFunc(g.Options, func(o catalog.VersionOption) bool { return o.OptionID == option })
	})
}

// checkOption checks one option, and finds or creates the menu's item of the dish that it stands for.
func (e groupEdit) checkOption(
	ctx context.Context, g catalog.VersionGroup, o catalog.VersionOption, c libraryChoice,
) error {
	switch {
	case c.group != g.GroupID:
		return catalog.ErrOption.With("optionId", decimal(o.OptionID))
	case c.retired != 0 && o.Active:
		return catalog.ErrOptionRetired.With("optionId", decimal(o.OptionID))
	case c.dish == 0:
		return nil
	}
	item, err := ensureItem(ctx, e.tx, e.version, c.dish)
	e.components[c.id] = item
	return err
}

// set replaces the groups of an item, or its group only, and returns the line.
func (e groupEdit) set(
	ctx context.Context, item, only int64, groups []catalog.VersionGroup,
) (line catalog.Line, err error) {
	before, err := selectLines(ctx, e.tx, e.version, item)
	if err == nil && len(before) == 0 {
		err = catalog.ErrItem
	}
	if err != nil {
		return line, err
	}
	at := func(i int) int64 { return int64(i) }
	if only != 0 {
		sort := nextSort(before[0].Groups)
		if i := place(before[0].Groups, 0, only); i >= 0 {
			sort = before[0].Groups[i].Sort
		}
		at = func(int) int64 { return sort }
	}
	e.tx.Queue(stmt("version_choice_delete"), e.version, item, only)
	e.tx.Queue(stmt("version_group_delete"), e.version, item, only)
	e.insert(item, groups, at)
	after, err := selectLines(ctx, e.tx, e.version, item)
	if err != nil {
		return line, err
	}
	line = after[0]
	return line, auditsql.Record(ctx, e.tx, auditEntry(e.by, e.now, audit.ActionMenuEdited, "menuVersion", e.version, e.branch).
		WithBefore(groupsNoteOf(before[0])).WithAfter(groupsNoteOf(line)))
}

func nextSort(groups []catalog.VersionGroup) (sort int64) {
	for _, g := range groups {
		sort = max(sort, g.Sort+1)
	}
	return sort
}

// insert queues the rows of groups. at returns the place of a group within the item.
func (e groupEdit) insert(item int64, groups []catalog.VersionGroup, at func(i int) int64) {
	if len(groups) == 0 {
		return
	}
	type row struct {
		catalog.VersionOption
		parent, group, sort int64
	}
	var options []row
	for _, g := range groups {
		for n, o := range g.Options {
			options = append(options, row{o, g.ParentOptionID, g.GroupID, int64(n)})
		}
	}
	e.tx.Queue(stmt("version_group_insert"), sqldb.NewRowSet(len(groups)).
		Int("parent_id", func(i int) int64 { return groups[i].ParentOptionID }).
		Int("group_id", func(i int) int64 { return groups[i].GroupID }).
		Int("sort", at).
		Int("min_units", func(i int) int64 { return groups[i].Min }).
		NullInt("max_units", func(i int) (int64, bool) {
			if groups[i].Max == nil {
				return 0, false
			}
			return *groups[i].Max, true
		}).
		Int("free_units", func(i int) int64 { return groups[i].Free }).
		Int("max_each", func(i int) int64 { return groups[i].MaxEach }).
		Int("credit", func(i int) int64 { return sqldb.Flag(groups[i].Credit) }).
		Int("defaults_charge", func(i int) int64 { return sqldb.Flag(groups[i].DefaultsCharge) }), e.version, item)
	if len(options) == 0 {
		return
	}
	e.tx.Queue(stmt("version_choice_insert"), sqldb.NewRowSet(len(options)).
		Int("parent_id", func(i int) int64 { return options[i].parent }).
		Int("group_id", func(i int) int64 { return options[i].group }).
		Int("choice_id", func(i int) int64 { return options[i].OptionID }).
		Int("sort", func(i int) int64 { return options[i].sort }).
		Int("price", func(i int) int64 { return options[i].Price }).
		Int("is_default", func(i int) int64 { return sqldb.Flag(options[i].Default) }).
		Int("is_active", func(i int) int64 { return sqldb.Flag(options[i].Active) }).
		NullInt("component", func(i int) (int64, bool) {
			item := e.components[options[i].OptionID]
			return item, item != 0
		}), e.version, item)
}

// groupsNote is the audit log's record of the groups of an item: prices of the active options by id.
type groupsNote struct {
	Item   int64             `json:"menuItem"`
	Names  catalog.Texts     `json:"names,omitempty"`
	Groups []groupNoteOfItem `json:"optionGroups"`
}

type groupNoteOfItem struct {
	Group   int64           `json:"optionGroup"`
	Parent  int64           `json:"option,omitempty"`
	Min     int64           `json:"min"`
	Max     *int64          `json:"max"`
	Free    int64           `json:"free,omitempty"`
	MaxEach int64           `json:"maxEach"`
	Credit  bool            `json:"credit,omitempty"`
	Prices  map[int64]int64 `json:"prices"`
}

func groupsNoteOf(l catalog.Line) groupsNote {
	return groupsNote{l.ItemID, l.Names, seq.Map(l.Groups, func(g catalog.VersionGroup) groupNoteOfItem {
		prices := map[int64]int64{}
		for _, o := range g.Options {
			if o.Active {
				prices[o.OptionID] = o.Price
			}
		}
		return groupNoteOfItem{g.GroupID, g.ParentOptionID, g.Min, g.Max, g.Free, g.MaxEach, g.Credit, prices}
	})}
}
