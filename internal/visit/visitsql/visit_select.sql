SELECT v.id, v.branch_id, v.table_id, t.label, v.biz_date, v.status, v.opened_at, v.last_seen_at,
       v.closed_at, v.close_reason, v.called_bill, v.called_help, v.called_water,
       (SELECT COUNT(*) FROM visit_guest g WHERE g.visit_id = v.id)
FROM visit v
JOIN dining_table t ON t.id = v.table_id
WHERE v.id = $1
