package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/text"
)

// Limits of the library of options.
const (
	MaxGroups    = 1000 // option groups of an installation; bounds the memory of a search
	MaxChoices   = 100  // options of a group
	maxShortName = 24   // characters of a kitchen name, so that tickets show it on one line
	maxGroupNote = 200  // characters
)

// The faults of the library of options.
var (
	ErrOptionGroup      = fault.New(fault.NotFound, "option_group_not_found", "Option group not found.")
	ErrOptionGroupInUse = fault.New(fault.Conflict, "option_group_in_use",
		"This group is on a live menu or a draft. Remove it there first.")
	ErrOptionMissing = fault.New(fault.NotFound, "option_not_found", "Option not found.")
	ErrOptionInUse   = fault.New(fault.Conflict, "option_in_use",
		"This option is on a live menu or a draft. Deactivate it there first.")
	ErrOptionRetired = fault.New(fault.Conflict, "option_retired", "This option is archived.")
	ErrTooManyGroups = fault.Newf(fault.Conflict, "option_group_limit",
		"At most %d option groups can be stored.", MaxGroups)
	ErrTooManyOptions     = fault.Newf(fault.Conflict, "option_limit", "A group has at most %d options.", MaxChoices)
	errOptionDishRequired = invalidIn("dishId", "An option of a combo needs a dish.")
	errOptionDishOnly     = invalidIn("dishId", "Only the options of a combo stand for a dish.")
)

// invalidIn returns a refusal that names the JSON property of the field.
func invalidIn(field, detail string) *fault.Error {
	return fault.New(fault.Invalid, "invalid", detail).With("field", field)
}

// LibraryGroup is an option group as the staff manage it. Groups belong to the whole installation, like dishes; a menu
// version decides about limits and prices.
type LibraryGroup struct {
	ID        int64
	Kind      GroupKind // never changes
	Names     Texts
	Note      string // for the staff
	Options   []LibraryOption
	UsedBy    int64 // number of published menu items that have it
	Retired   bool
	UpdatedAt time.Time
}

// LibraryOption is an option as the staff manage it.
type LibraryOption struct {
	ID          int64
	GroupID     int64
	Names       Texts
	ShortName   string // for the kitchen; empty: the name
	DishID      int64  // COMBO: the dish that it stands for; never changes
	Sort        int64
	TaxClass    string // empty: the tax class of the dish
	Retired     bool
	Declaration // of what the option adds; COMBO: empty, because its dish declares it
}

// OptionGroupEdit is a change to an option group. Nil fields stay as they are; Kind is only for a new group.
type OptionGroupEdit struct {
	Kind  GroupKind
	Names Texts
	Note  *string
}

// apply returns the changed group.
func (e OptionGroupEdit) apply(g LibraryGroup) (LibraryGroup, error) {
	if g.ID == 0 {
		if !e.Kind.Valid() {
			return g, invalidIn("kind", "The kind of a group is SIZE, CHOICE or COMBO.")
		}
		g.Kind = e.Kind
	}
	if e.Names != nil {
		g.Names = e.Names
	}
	set(&g.Note, e.Note)
	if n := utf8.RuneCountInString(g.Note); n > maxGroupNote {
		return g, invalidIn("note", "A note is too long.")
	}
	return g, g.Names.Check("An option group", MaxName)
}

// OptionEdit is a change to an option. Nil fields stay as they are; DishID is only for a new option.
type OptionEdit struct {
	Names     Texts
	ShortName *string
	Sort      *int64
	DishID    int64
	TaxClass  *string // code; empty: the tax class of the dish
	Declared  DeclarationEdit
}

// apply returns the changed option of a group.
func (e OptionEdit) apply(g LibraryGroup, o LibraryOption) (LibraryOption, error) {
	if o.Retired || g.Retired {
		return o, ErrOptionRetired
	}
	if o.ID == 0 {
		switch {
		case g.Kind == ComboGroup && e.DishID == 0:
			return o, errOptionDishRequired
		case g.Kind != ComboGroup && e.DishID != 0:
			return o, errOptionDishOnly
		}
		o.DishID = e.DishID
	}
	if e.Names != nil {
		o.Names = e.Names
	}
	set(&o.ShortName, e.ShortName)
	if utf8.RuneCountInString(o.ShortName) > maxShortName {
		return o, invalidIn("shortName", "A kitchen name is too long.")
	}
	set(&o.Sort, e.Sort)
	set(&o.TaxClass, e.TaxClass)
	var wrong fault.Problems
	o.Declaration = e.Declared.apply(o.Declaration, &wrong)
	if g.Kind == ComboGroup && (o.Allergens != nil || len(o.Diets) > 0) {
		wrong.Addf(fieldAllergens, codeOfDish, "must be declared for the dish that the option stands for")
	}
	return o, cmp.Or(checkSort(e.Sort), o.Names.Check("An option", MaxName), wrong.Err())
}

// OptionStore stores the library of options and the groups of drafts; catalogsql implements it. Each change is one
// transaction with its audit log entry. The Put methods create a row for id 0 and return the branches whose menus show it.
// They call change while they hold the row locks, so it must not do I/O.
type OptionStore interface {
	// OptionGroups returns the groups that are not retired, by id, with their options.
	OptionGroups(ctx context.Context) ([]LibraryGroup, error)
	PutOptionGroup(
		ctx context.Context, by authz.Actor, id int64, now time.Time, change func(LibraryGroup) (LibraryGroup, error),
	) (LibraryGroup, []int64, error)
	// RetireOptionGroup fails with ErrOptionGroupInUse while a draft or a published version has the group.
	RetireOptionGroup(ctx context.Context, by authz.Actor, id int64, now time.Time) error
	// PutOption changes an option, or adds one to a group for id 0.
	PutOption(
		ctx context.Context, by authz.Actor, group, id int64, now time.Time,
		change func(LibraryGroup, LibraryOption) (LibraryOption, error),
	) (LibraryOption, []int64, error)
	// RetireOption fails with ErrOptionInUse while a draft or a published version has it active.
	RetireOption(ctx context.Context, by authz.Actor, id int64, now time.Time) error
	// SetGroups replaces the groups of an item in a draft.
	SetGroups(ctx context.Context, by authz.Actor, version, item int64, groups []VersionGroup, now time.Time) (Line, error)
	// AttachGroup sets one group of items in a draft and leaves their other groups.
	AttachGroup(ctx context.Context, by authz.Actor, version int64, items []int64, g VersionGroup, now time.Time) error
}

// OptionService manages the library of options and the groups of drafts. Changes are visible at once in this process and
// within a second in others.
type OptionService struct {
	Store OptionStore
	Menus *MenuCache
	Now   func() time.Time
}

// Groups returns a page of the groups whose name in some locale has the words of the query, and their total number.
func (s *OptionService) Groups(ctx context.Context, query string, limit, offset int) ([]LibraryGroup, int64, error) {
	all, err := s.Store.OptionGroups(ctx)
	if err != nil {
		return nil, 0, err
	}
	q := text.ParseQuery(query)
	all = slices.DeleteFunc(all, func(g LibraryGroup) bool { return !g.Names.match(q) })
	total := int64(len(all))
	all = all[min(offset, len(all)):]
	return all[:min(limit, len(all))], total, nil
}

// PutGroup changes an option group, or creates one for id 0.
func (s *OptionService) PutGroup(ctx context.Context, by authz.Actor, id int64, e OptionGroupEdit) (LibraryGroup, error) {
	g, branches, err := s.Store.PutOptionGroup(ctx, by, id, s.Now(), e.apply)
	s.Menus.changed(ctx, err, branches...)
	return g, err
}

// RetireGroup retires a group and its options. Orders and closed versions still refer to them.
func (s *OptionService) RetireGroup(ctx context.Context, by authz.Actor, id int64) error {
	return s.Store.RetireOptionGroup(ctx, by, id, s.Now())
}

// PutOption changes an option, or adds one to a group for id 0.
func (s *OptionService) PutOption(
	ctx context.Context, by authz.Actor, group, id int64, e OptionEdit,
) (LibraryOption, error) {
	o, branches, err := s.Store.PutOption(ctx, by, group, id, s.Now(), e.apply)
	s.Menus.changed(ctx, err, branches...)
	return o, err
}

// RetireOption retires an option.
func (s *OptionService) RetireOption(ctx context.Context, by authz.Actor, id int64) error {
	return s.Store.RetireOption(ctx, by, id, s.Now())
}

// SetGroups replaces the groups of an item in a draft.
func (s *OptionService) SetGroups(
	ctx context.Context, by authz.Actor, version, item int64, groups []VersionGroup,
) (Line, error) {
	if err := checkGroups(groups); err != nil {
		return Line{}, err
	}
	return s.Store.SetGroups(ctx, by, version, item, groups, s.Now())
}

// Attach sets one group of many items in a draft and returns the number of items. The group belongs to the items, not to
// an option.
func (s *OptionService) Attach(
	ctx context.Context, by authz.Actor, version int64, items []int64, g VersionGroup,
) (int, error) {
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	if g.ParentOptionID = 0; len(items) == 0 {
		return 0, invalidIn("itemIds", "Choose at least one dish.")
	}
	if err := checkGroups([]VersionGroup{g}); err != nil {
		return 0, err
	}
	return len(items), s.Store.AttachGroup(ctx, by, version, items, g, s.Now())
}
