package cataloghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

func (s *staff) registerOptions(ops httpapi.Operations) {
	httpapi.Register(ops, "staff-option-group-list", "GET /api/option-groups", "List groups of options", s.optionGroups)
	httpapi.Register(ops, "staff-option-group-add", "POST /api/option-groups",
		"Add a group of options", s.addOptionGroup, httpapi.Created)
	httpapi.Register(ops, "staff-option-group-edit", "PATCH /api/option-groups/{id}",
		"Edit a group of options", s.editOptionGroup)
	httpapi.RegisterOutput(ops, "staff-option-group-retire", "DELETE /api/option-groups/{id}",
		"Archive a group of options that is on no menu; orders still refer to it", s.retireOptionGroup)
	httpapi.Register(ops, "staff-option-add", "POST /api/option-groups/{id}/options",
		"Add an option to a group", s.addOption, httpapi.Created)
	httpapi.Register(ops, "staff-option-edit", "PATCH /api/options/{id}", "Edit an option", s.editOption)
	httpapi.RegisterOutput(ops, "staff-option-retire", "DELETE /api/options/{id}",
		"Archive an option that is active on no menu; orders still refer to it", s.retireOption)
	httpapi.Register(ops, "staff-version-groups", "PUT /api/menu-versions/{id}/items/{itemId}/groups",
		"Set the options of a dish in a draft", s.setGroups)
	httpapi.Register(ops, "staff-version-attach", "POST /api/menu-versions/{id}/groups/{groupId}/attach",
		"Set a group of options on many dishes of a draft", s.attachGroup)
	httpapi.Register(ops, "staff-option-off", "POST /api/branches/{id}/options/{optionId}/off",
		"86 an option: take it off the menu for a while", s.takeOptionOff)
	httpapi.Register(ops, "staff-option-on", "POST /api/branches/{id}/options/{optionId}/on",
		"Put an option back on sale", s.restoreOption)
}

type optionGroupInfo struct {
	ID        string            `json:"id"`
	Kind      catalog.GroupKind `json:"kind" enum:"SIZE,CHOICE,COMBO"`
	Names     catalog.Texts     `json:"names"`
	Note      string            `json:"note" doc:"For the staff."`
	Options   []optionInfo      `json:"options" doc:"In the order of the library, archived ones included."`
	UsedBy    int64             `json:"usedBy" doc:"Number of dishes on published menus that have the group."`
	UpdatedAt time.Time         `json:"updatedAt"`
}

type optionInfo struct {
	ID        string        `json:"id"`
	Names     catalog.Texts `json:"names"`
	ShortName string        `json:"shortName" doc:"For the kitchen; empty: the name."`
	DishID    *string       `json:"dishId" doc:"The dish that the option of a combo stands for; null for other options."`
	Sort      int64         `json:"sort"`
	TaxClass  *string       `json:"taxClass" doc:"null: the tax class of the dish."`
	Declared
	Retired bool `json:"retired"`
}

func optionInfoOf(o catalog.LibraryOption) optionInfo {
	return optionInfo{
		httpapi.FormatID(o.ID), o.Names, o.ShortName, httpapi.IDOrNull(o.DishID), o.Sort, httpapi.OrNull(o.TaxClass),
		declaredOf(o.Declaration), o.Retired,
	}
}

func optionGroupInfoOf(g catalog.LibraryGroup) optionGroupInfo {
	return optionGroupInfo{
		httpapi.FormatID(g.ID), g.Kind, g.Names, g.Note, seq.Map(g.Options, optionInfoOf), g.UsedBy, g.UpdatedAt,
	}
}

type optionGroupsIn struct {
	httpapi.LongPaging
	Q string `query:"q" text:"line" maxLength:"100" doc:"Part of the name, in any language."`
}

func (s *staff) optionGroups(ctx context.Context, in *optionGroupsIn) (httpapi.Listed[optionGroupInfo], error) {
	page, total, err := s.Options.Groups(ctx, in.Q, in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(in.LongPaging), page, total, optionGroupInfoOf), err
}

type optionGroupAddIn struct {
	Body struct {
		Kind  catalog.GroupKind `json:"kind" enum:"SIZE,CHOICE,COMBO"`
		Names catalog.Texts     `json:"names" text:"line" doc:"By locale, at least one."`
		Note  string            `json:"note,omitempty" text:"lines" maxLength:"200"`
	}
}

func (s *staff) addOptionGroup(ctx context.Context, in *optionGroupAddIn) (optionGroupInfo, error) {
	g, err := s.Options.PutGroup(ctx, authz.ActorOf(ctx), 0, catalog.OptionGroupEdit{
		Kind: in.Body.Kind, Names: in.Body.Names, Note: &in.Body.Note,
	})
	return optionGroupInfoOf(g), err
}

type optionGroupEditIn struct {
	ID   int64 `path:"id" minimum:"1"`
	Body optionGroupEdit
}

// optionGroupEdit is a change to a group. Omitted fields stay as they are.
type optionGroupEdit struct {
	Names catalog.Texts `json:"names,omitempty" text:"line"`
	Note  *string       `json:"note,omitempty" text:"lines" maxLength:"200"`
}

func (s *staff) editOptionGroup(ctx context.Context, in *optionGroupEditIn) (optionGroupInfo, error) {
	g, err := s.Options.PutGroup(ctx, authz.ActorOf(ctx), in.ID, catalog.OptionGroupEdit{
		Names: in.Body.Names, Note: in.Body.Note,
	})
	return optionGroupInfoOf(g), err
}

func (s *staff) retireOptionGroup(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, s.Options.RetireGroup(ctx, authz.ActorOf(ctx), in.ID)
}

type newOption struct {
	Names     catalog.Texts `json:"names" text:"line" doc:"By locale, at least one."`
	ShortName string        `json:"shortName,omitempty" text:"line" maxLength:"24"`
	DishID    string        `json:"dishId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"Required in a group of kind COMBO, and only there."`
	Sort      *int64        `json:"sort,omitempty" doc:"Position within the group; if omitted, it comes last."`
	TaxClass  string        `json:"taxClass,omitempty" pattern:"^[A-Z0-9_]{0,20}$" doc:"Code of a tax class; if omitted, that of the dish."`
	DeclarationEdit
}

func (s *staff) addOption(ctx context.Context, in *httpapi.BodyByID[newOption]) (optionInfo, error) {
	o, err := s.Options.PutOption(ctx, authz.ActorOf(ctx), in.ID, 0, catalog.OptionEdit{
		Names: in.Body.Names, ShortName: &in.Body.ShortName, DishID: httpapi.IDOf(in.Body.DishID), Sort: in.Body.Sort,
		TaxClass: &in.Body.TaxClass, Declared: in.Body.edit(),
	})
	return optionInfoOf(o), err
}

type optionEditIn struct {
	ID   int64 `path:"id" minimum:"1"`
	Body optionEdit
}

// optionEdit is a change to an option. Omitted fields stay as they are.
type optionEdit struct {
	Names     catalog.Texts `json:"names,omitempty" text:"line"`
	ShortName *string       `json:"shortName,omitempty" text:"line" maxLength:"24"`
	Sort      *int64        `json:"sort,omitempty"`
	TaxClass  *string       `json:"taxClass,omitempty" pattern:"^[A-Z0-9_]{0,20}$" doc:"Empty: the tax class of the dish."`
	DeclarationEdit
}

func (s *staff) editOption(ctx context.Context, in *optionEditIn) (optionInfo, error) {
	o, err := s.Options.PutOption(ctx, authz.ActorOf(ctx), 0, in.ID, catalog.OptionEdit{
		Names: in.Body.Names, ShortName: in.Body.ShortName, Sort: in.Body.Sort, TaxClass: in.Body.TaxClass,
		Declared: in.Body.edit(),
	})
	return optionInfoOf(o), err
}

func (s *staff) retireOption(ctx context.Context, in *httpapi.ByID) (*struct{}, error) {
	return nil, s.Options.RetireOption(ctx, authz.ActorOf(ctx), in.ID)
}

// lineGroup is a group of a dish in a version.
type lineGroup struct {
	GroupID        string            `json:"groupId"`
	ParentOptionID *string           `json:"parentOptionId" doc:"The option that the group belongs to; null: the dish."`
	Kind           catalog.GroupKind `json:"kind" enum:"SIZE,CHOICE,COMBO"`
	Names          catalog.Texts     `json:"names"`
	Sort           int64             `json:"sort"`
	Min            int64             `json:"min"`
	Max            *int64            `json:"max" doc:"null for no limit."`
	Free           int64             `json:"free" doc:"Units that cost nothing."`
	MaxEach        int64             `json:"maxEach" doc:"Most units of one option."`
	Credit         bool              `json:"credit" doc:"Substitution pricing: the prices of the defaults are subtracted."`
	DefaultsCharge bool              `json:"defaultsCharge" doc:"Whether a chosen default costs its price."`
	Options        []lineOption      `json:"options"`
}

type lineOption struct {
	OptionID  string        `json:"optionId"`
	Names     catalog.Texts `json:"names"`
	Price     int64         `json:"price"`
	Sort      int64         `json:"sort"`
	IsDefault bool          `json:"isDefault"`
	IsActive  bool          `json:"isActive"`
}

func lineGroupOf(g catalog.VersionGroup) lineGroup {
	return lineGroup{
		GroupID: httpapi.FormatID(g.GroupID), ParentOptionID: httpapi.IDOrNull(g.ParentOptionID), Kind: g.Kind, Names: g.Names,
		Sort: g.Sort, Min: g.Min, Max: g.Max, Free: g.Free, MaxEach: g.MaxEach, Credit: g.Credit,
		DefaultsCharge: g.DefaultsCharge,
		Options: seq.Map(g.Options, func(o catalog.VersionOption) lineOption {
			return lineOption{httpapi.FormatID(o.OptionID), o.Names, o.Price, o.Sort, o.Default, o.Active}
		}),
	}
}

// GroupSettings are the limits of a group and the prices of its options. It is exported because huma only reads exported
// embedded fields.
type GroupSettings struct {
	Min            int64           `json:"min" minimum:"0"`
	Max            *int64          `json:"max" doc:"null for no limit."`
	Free           int64           `json:"free" minimum:"0"`
	MaxEach        int64           `json:"maxEach" minimum:"1" maximum:"20"`
	Credit         bool            `json:"credit"`
	DefaultsCharge bool            `json:"defaultsCharge"`
	Options        []pricedSetting `json:"options" maxItems:"100" doc:"In the order in which guests see them."`
}

type pricedSetting struct {
	OptionID  string `json:"optionId" pattern:"^[1-9][0-9]{0,17}$"`
	Price     int64  `json:"price" minimum:"0" doc:"In minor units of the branch's currency."`
	IsDefault bool   `json:"isDefault"`
	IsActive  bool   `json:"isActive"`
}

func (g GroupSettings) group(id int64) catalog.VersionGroup {
	return catalog.VersionGroup{
		GroupID: id, Min: g.Min, Max: g.Max, Free: g.Free, MaxEach: g.MaxEach, Credit: g.Credit, DefaultsCharge: g.DefaultsCharge,
		Options: seq.Map(g.Options, func(o pricedSetting) catalog.VersionOption {
			return catalog.VersionOption{OptionID: httpapi.IDOf(o.OptionID), Price: o.Price, Default: o.IsDefault, Active: o.IsActive}
		}),
	}
}

type groupSetting struct {
	GroupID        string  `json:"groupId" pattern:"^[1-9][0-9]{0,17}$"`
	ParentOptionID *string `json:"parentOptionId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"The option of another group here that the group belongs to; if omitted, it belongs to the dish."`
	GroupSettings
}

type groupsIn struct {
	ID     int64 `path:"id"`
	ItemID int64 `path:"itemId"`
	Body   struct {
		Groups []groupSetting `json:"groups" maxItems:"40" doc:"In the order in which guests see them; they replace all groups of the dish."`
	}
}

func (s *staff) setGroups(ctx context.Context, in *groupsIn) (line, error) {
	l, err := s.Options.SetGroups(ctx, authz.ActorOf(ctx), in.ID, in.ItemID,
		seq.Map(in.Body.Groups, func(g groupSetting) catalog.VersionGroup {
			out := g.group(httpapi.IDOf(g.GroupID))
			if g.ParentOptionID != nil {
				out.ParentOptionID = httpapi.IDOf(*g.ParentOptionID)
			}
			return out
		}))
	if err != nil {
		return line{}, err
	}
	return lineOf(l), nil
}

type attachIn struct {
	ID      int64 `path:"id"`
	GroupID int64 `path:"groupId"`
	Body    struct {
		ItemIDs  []string      `json:"itemIds" text:"exact" minItems:"1" maxItems:"5000"`
		Settings GroupSettings `json:"settings"`
	}
}

type attached struct {
	Items int `json:"items" doc:"Number of dishes that have the group now."`
}

func (s *staff) attachGroup(ctx context.Context, in *attachIn) (attached, error) {
	items, err := seq.TryMap(in.Body.ItemIDs, httpapi.ParseID)
	if err != nil {
		return attached{}, err
	}
	n, err := s.Options.Attach(ctx, authz.ActorOf(ctx), in.ID, items, in.Body.Settings.group(in.GroupID))
	return attached{n}, err
}

type optionOffIn struct {
	ID       int64 `path:"id"`
	OptionID int64 `path:"optionId"`
	Body     offRequest
}

type offOption struct {
	OptionID string    `json:"optionId"`
	Since    time.Time `json:"since"`
	Until    string    `json:"until" doc:"RESTORED or an instant."`
	By       string    `json:"by"`
}

func (s *staff) takeOptionOff(ctx context.Context, in *optionOffIn) (offOption, error) {
	until, err := catalog.ParseUntil(in.Body.Until)
	if err != nil {
		return offOption{}, err
	}
	o, err := s.Availability.AddUnavailableOption(ctx, authz.ActorOf(ctx), in.ID, in.OptionID, until)
	return offOption{httpapi.FormatID(o.Option), o.Since, untilText(o.Until), o.By}, err
}

type optionOnIn struct {
	ID       int64 `path:"id"`
	OptionID int64 `path:"optionId"`
}

type restoredOption struct {
	OptionID string `json:"optionId"`
}

func (s *staff) restoreOption(ctx context.Context, in *optionOnIn) (restoredOption, error) {
	err := s.Availability.RestoreOption(ctx, authz.ActorOf(ctx), in.ID, in.OptionID)
	return restoredOption{httpapi.FormatID(in.OptionID)}, err
}

// optionAvailability is an option of the published menu with its state.
type optionAvailability struct {
	OptionID    string        `json:"optionId"`
	GroupID     string        `json:"groupId"`
	GroupNames  catalog.Texts `json:"groupNames"`
	Names       catalog.Texts `json:"names"`
	IsAvailable bool          `json:"isAvailable" doc:"false while it is 86'd, or its stock or dish is sold out."`
	OffUntil    *string       `json:"eightySixedUntil" doc:"RESTORED or an instant; null while the option is on sale."`
	OffBy       *string       `json:"eightySixedBy"`
}

// optionAvailabilitiesOf returns the options of the menu, each once, in the order of the menu.
func optionAvailabilitiesOf(c *catalog.CountedMenu) []optionAvailability {
	out, seen := []optionAvailability{}, map[int64]bool{}
	var add func(groups []catalog.OptionGroup)
	add = func(groups []catalog.OptionGroup) {
		for i := range groups {
			g := &groups[i]
			for j := range g.Options {
				o := &g.Options[j]
				if add(o.Groups); seen[o.ID] {
					continue
				}
				seen[o.ID] = true
				a := optionAvailability{
					OptionID: httpapi.FormatID(o.ID), GroupID: httpapi.FormatID(g.ID), GroupNames: g.Names, Names: o.Names,
					IsAvailable: c.OptionAvailable(o),
				}
				if off, ok := c.OffOptions[o.ID]; ok {
					a.IsAvailable, a.OffUntil, a.OffBy = false, new(untilText(off.Until)), &off.By
				}
				out = append(out, a)
			}
		}
	}
	for i := range c.Items {
		add(c.Items[i].Groups)
	}
	return out
}
