// The names of MongoDB 8's language and commands, as its manual lists them; encryption, search services, sharding and telemetry left out.

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Names by family. */
export const mongodbNames: Readonly<Record<'commands' | 'filters' | 'updates' | 'stages' | 'accumulators' | 'windows' | 'expressions', readonly string[]>> = {
  commands: words(`
    abortTransaction aggregate appendOplogNote applyOps authenticate autoCompact buildInfo bulkWrite cloneCollectionAsCapped collMod collStats
    commitTransaction compact compactStructuredEncryptionData configureFailPoint connectionStatus connPoolStats convertToCapped count create
    createIndexes createRole createSearchIndexes createUser currentOp dataSize dbHash dbStats delete distinct drop dropAllRolesFromDatabase
    dropAllUsersFromDatabase dropConnections dropDatabase dropIndexes dropRole dropSearchIndex dropUser endSessions explain filemd5 find
    findAndModify fsync fsyncUnlock getClusterParameter getCmdLineOpts getDefaultRWConcern getLog getMore getParameter grantPrivilegesToRole
    grantRolesToRole grantRolesToUser hello hostInfo insert invalidateUserCache isMaster killAllSessions killAllSessionsByPattern killCursors
    killOp killSessions listCollections listCommands listDatabases listIndexes listShards lockInfo logApplicationMessage logout logRotate
    mapReduce ping planCacheClear planCacheClearFilters planCacheListFilters planCacheSetFilter profile refreshSessions reIndex
    removeQuerySettings renameCollection replSetAbortPrimaryCatchUp replSetFreeze replSetGetConfig replSetGetStatus replSetInitiate
    replSetMaintenance replSetReconfig replSetResizeOplog replSetStepDown replSetSyncFrom revokePrivilegesFromRole revokeRolesFromRole
    revokeRolesFromUser rolesInfo rotateCertificates saslContinue saslStart serverStatus setClusterParameter setDefaultRWConcern
    setFeatureCompatibilityVersion setIndexCommitQuorum setParameter setQuerySettings setUserWriteBlockMode shutdown startSession top update
    updateRole updateSearchIndex updateUser usersInfo validate validateDBMetadata whatsmyuri
  `),
  filters: words(`
    $all $and $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet $elemMatch $eq $exists $expr $geoIntersects $geoWithin $gt $gte $in
    $jsonSchema $lt $lte $mod $ne $near $nearSphere $nin $nor $not $or $regex $size $text $type $where
  `),
  updates: words(`
    $addToSet $bit $currentDate $inc $max $min $mul $pop $pull $pullAll $push $rename $set $setOnInsert $unset
  `),
  stages: words(`
    $addFields $bucket $bucketAuto $changeStream $collStats $count $currentOp $densify $documents $facet $fill $geoNear $graphLookup $group
    $indexStats $limit $lookup $match $merge $out $project $redact $replaceRoot $replaceWith $sample $set $setWindowFields $skip $sort
    $sortByCount $unionWith $unset $unwind
  `),
  accumulators: words(`
    $accumulator $addToSet $avg $bottom $bottomN $concatArrays $count $first $firstN $last $lastN $max $maxN $median $mergeObjects $min $minN $percentile
    $push $setUnion $stdDevPop $stdDevSamp $sum $top $topN
  `),
  windows: words(`
    $addToSet $avg $bottom $bottomN $count $covariancePop $covarianceSamp $denseRank $derivative $documentNumber $expMovingAvg $first $integral
    $last $linearFill $locf $max $maxN $min $minN $push $rank $shift $stdDevPop $stdDevSamp $sum $top $topN
  `),
  expressions: words(`
    $abs $acos $acosh $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan $atan2 $atanh $avg $binarySize
    $bitAnd $bitNot $bitOr $bitXor $bsonSize $ceil $cmp $concat $concatArrays $cond $convert $cos $cosh $dateAdd $dateDiff $dateFromParts
    $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek $dayOfYear $degreesToRadians $divide $eq $exp $function $maxN $minN
    $filter $first $firstN $floor $getField $gt $gte $hour $ifNull $in $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber $isoDayOfWeek
    $isoWeek $isoWeekYear $last $lastN $let $literal $ln $log $log10 $lt $lte $ltrim $map $max $median $mergeObjects $meta $millisecond $min
    $minute $mod $month $multiply $ne $not $objectToArray $or $percentile $pow $radiansToDegrees $rand $range $reduce $regexFind $regexFindAll
    $regexMatch $replaceAll $replaceOne $reverseArray $round $rtrim $second $setDifference $setEquals $setField $setIntersection $setIsSubset
    $setUnion $sin $sinh $size $slice $sortArray $split $sqrt $stdDevPop $stdDevSamp $strcasecmp $strLenBytes $strLenCP $substr $substrBytes
    $substrCP $subtract $sum $switch $tan $tanh $toBool $toDate $toDecimal $toDouble $toInt $toLong $toLower $toObjectId $toString $toUpper
    $toUUID $trim $trunc $tsIncrement $tsSecond $type $unsetField $week $year $zip
  `),
};
