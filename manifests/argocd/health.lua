-- How healthy a custom resource of skep is, by its condition Ready and its phase.
local hs = { status = "Progressing", message = "skep has not written its status yet" }
local status = obj.status
if status == nil or status.conditions == nil then
  return hs
end
for _, condition in ipairs(status.conditions) do
  if condition.type == "Ready" then
    hs.message = condition.message or ""
    if condition.observedGeneration ~= nil and condition.observedGeneration ~= obj.metadata.generation then
      hs.message = "skep has not seen this version yet"
    elseif condition.status == "True" then
      hs.status = "Healthy"
    elseif condition.reason == "ScaledToZero" then
      hs.status = "Suspended"
    elseif status.phase == nil or status.phase == "Failed" then
      hs.status = "Degraded"
    end
    return hs
  end
end
return hs
