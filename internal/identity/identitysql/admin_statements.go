package identitysql

import (
	"embed"

	"comanda/internal/sqldb"
)

//go:embed admin_*.sql audit_*.sql permission_*.sql role_*.sql staff_*.sql
var adminFiles embed.FS

// What administration asks of SQL.
var (
	adminStmts = sqldb.Load(adminFiles)

	adminBranchClear  = adminStmts.Must("admin_branch_clear")
	adminBranchCount  = adminStmts.Must("admin_branch_count")
	adminBranchPut    = adminStmts.Must("admin_branch_put")
	adminOwnerCount   = adminStmts.Must("admin_owner_count")
	adminPostSet      = adminStmts.Must("admin_post_set")
	adminStatusSet    = adminStmts.Must("admin_status_set")
	adminUserCount    = adminStmts.Must("admin_user_count")
	adminUserList     = adminStmts.Must("admin_user_list")
	auditAdvance      = adminStmts.Must("audit_advance")
	auditCount        = adminStmts.Must("audit_count")
	auditInsert       = adminStmts.Must("audit_insert")
	auditLast         = adminStmts.Must("audit_last")
	auditList         = adminStmts.Must("audit_list")
	auditLock         = adminStmts.Must("audit_lock")
	auditWalk         = adminStmts.Must("audit_walk")
	permissionDelete  = adminStmts.Must("permission_delete")
	permissionGrant   = adminStmts.Must("permission_grant")
	permissionHeld    = adminStmts.Must("permission_held")
	permissionHolders = adminStmts.Must("permission_holders")
	permissionInsert  = adminStmts.Must("permission_insert")
	permissionList    = adminStmts.Must("permission_list")
	permissionRevoke  = adminStmts.Must("permission_revoke")
	permissionRoutes  = adminStmts.Must("permission_routes")
	permissionTake    = adminStmts.Must("permission_take")
	permissionUpdate  = adminStmts.Must("permission_update")
	roleDelete        = adminStmts.Must("role_delete")
	roleEnsure        = adminStmts.Must("role_ensure")
	roleInsert        = adminStmts.Must("role_insert")
	roleList          = adminStmts.Must("role_list")
	roleLock          = adminStmts.Must("role_lock")
	roleMembersHold   = adminStmts.Must("role_members_hold")
	roleSelect        = adminStmts.Must("role_select")
	roleTouch         = adminStmts.Must("role_touch")
	roleUpdate        = adminStmts.Must("role_update")
	roleUsed          = adminStmts.Must("role_used")
	roleVersions      = adminStmts.Must("role_versions")
	staffSetupClear   = adminStmts.Must("staff_setup_clear")
	staffSetupPut     = adminStmts.Must("staff_setup_put")
	staffSetupSelect  = adminStmts.Must("staff_setup_select")
	staffSetupTrim    = adminStmts.Must("staff_setup_trim")
)
